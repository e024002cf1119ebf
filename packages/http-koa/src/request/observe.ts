import type { PlantCreator } from '@plant-store/domain';
import type { DefaultContext, DefaultState, Middleware } from 'koa';
import type { Failure } from './failures.js';
import { countedMethod, requestIdOf } from './headers.js';
import {
  accessRefusalOf,
  type HttpObserver,
  parserErrorOf,
  refusedClientOf,
} from './http-observer.js';

/** What the middleware of the routes shares about a request, in `ctx.state`. */
export interface RequestState extends DefaultState {
  requestId: string;
  /** When the request began, in milliseconds since the process started (`performance.now()`). */
  startedAt: number;
  /** When the last byte of the body arrived, likewise; 0 before. */
  arrivedAt: number;
  /** The client whose token was verified; `undefined` before, or if it may not create plants. */
  creator: PlantCreator;
  /** What the response reports, and why, unless the request succeeded. */
  failure?: Failure;
  cause?: unknown;
}

/** A middleware of the routes. */
export type Step = Middleware<RequestState, DefaultContext>;

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

/** Gives each request its id, and reports its beginning and its end. */
export function observe(observer: HttpObserver): Step {
  return async function observed(ctx, next) {
    const { state, req, response } = ctx;
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    state.startedAt = startedAt;
    state.arrivedAt = 0;
    state.requestId = requestId;
    response.set('X-Request-Id', requestId);
    observer.begun();
    await next();
    const { failure, creator, cause } = state;
    observer.ended({
      method: countedMethod(req.method),
      route: ctx.routerPath,
      // The status of the response that a host application has sent instead, or that Koa is about to send.
      status: !response.headerSent && !response.writable ? CLIENT_GONE : response.status,
      error: failure?.error,
      durationMs: performance.now() - startedAt,
      requestId,
      client: (creator as PlantCreator | undefined)?.client.name ?? refusedClientOf(cause),
      refusal: accessRefusalOf(cause),
      parserError: parserErrorOf(cause),
      request: req,
    });
  };
}
