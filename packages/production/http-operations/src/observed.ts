import type { CreateState, FailureState } from '@plant-store/http-koa';
import type { Middleware } from 'koa';
import { countedMethod, requestIdOf } from './headers.js';
import { type HttpObserver, parserErrorOf, refusalOf, refusedClientOf } from './http-event.js';

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

/** Gives each request its id, and reports its beginning, its end, and a failure of the service. */
export function observed(observer: HttpObserver): Middleware {
  return async function observe(ctx, next) {
    const { req, response } = ctx;
    // A host may replace `ctx.state` later.
    const state: CreateState & FailureState = ctx.state;
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    response.set('X-Request-Id', requestId);
    // Routes may replace it.
    response.set('Cache-Control', 'no-store');
    observer({ type: 'request begun' });
    await next();
    const { failure, client, cause } = state;
    if (failure?.ours) {
      observer({ type: 'request failed', requestId, error: failure.error, cause });
    }
    observer({
      type: 'request ended',
      method: countedMethod(req.method),
      route: ctx.routerPath,
      // The status of the response that a host application has sent instead, or that Koa is about to send.
      status: !response.headerSent && !response.writable ? CLIENT_GONE : response.status,
      error: failure?.error,
      durationMs: performance.now() - startedAt,
      requestId,
      client: client?.name ?? refusedClientOf(cause),
      refusal: refusalOf(cause),
      parserError: parserErrorOf(cause),
      request: req,
    });
  };
}
