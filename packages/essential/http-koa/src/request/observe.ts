import type { Client, PlantCreator } from '@plant-store/domain';
import type { Middleware } from 'koa';
import type { Failure } from './failures.js';
import { countedMethod, requestIdOf } from './headers.js';
import {
  accessRefusalOf,
  type HttpObserver,
  parserErrorOf,
  refusedClientOf,
} from './http-observer.js';

/** What the middleware of the routes shares about a request, as `ctx.state`. */
export interface RequestState {
  requestId: string;
  /** When the last byte of the request arrived, or, until that is known, when the request began (`performance.now()`). */
  arrivedAt: number;
  /** The client, once its token was verified. */
  client?: Client;
  /** The same client, if it may create plants. */
  creator?: PlantCreator;
  /** What the response reports, and why, unless the request succeeded. */
  failure?: Failure;
  cause?: unknown;
}

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

/** Gives each request its id, and reports its beginning and its end. */
export function observe(observer: HttpObserver): Middleware {
  return async function observed(ctx, next) {
    const { req, res, response } = ctx;
    // A host may replace `ctx.state` later.
    const state: RequestState = ctx.state;
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    state.requestId = requestId;
    state.arrivedAt = startedAt;
    observer.begun();
    await next();
    // Otherwise the response was sent: by `createApp`, with both headers, or by a host application.
    if (ctx.writable) {
      ctx.set('X-Request-Id', requestId);
      if (!res.hasHeader('Cache-Control')) ctx.set('Cache-Control', 'no-store');
    }
    const { failure, client, cause } = state;
    observer.ended({
      method: countedMethod(req.method),
      route: ctx.routerPath,
      // The status of the response that a host application has sent instead, or that Koa is about to send.
      status: !response.headerSent && !response.writable ? CLIENT_GONE : response.status,
      error: failure?.error,
      durationMs: performance.now() - startedAt,
      requestId,
      client: client?.name ?? refusedClientOf(cause),
      refusal: accessRefusalOf(cause),
      parserError: parserErrorOf(cause),
      request: req,
    });
  };
}
