import { InvalidTokenError, PermissionDeniedError } from '@plant-store/domain';
import type { Middleware, Next, ParameterizedContext } from 'koa';
import { checkHttp } from './check-http.js';
import { countedMethod } from './counted-method.js';
import { toFailure } from './failures.js';
import { announcesBody } from './header-fields.js';
import { CLIENT_GONE, type HttpObserver, type Refusal } from './http-observer.js';
import { RequestIds } from './request-id.js';
import { newRequestState, type PlantStoreState } from './request-state.js';
import { failureResponse } from './response.js';
import type { Send } from './send.js';

type Context = ParameterizedContext<PlantStoreState>;

/**
 * Creates the middleware that sends every response: the one that later middleware has put into the state, or a
 * failure for the error that it has thrown. Reports each request to the observer once.
 *
 * An application may have this middleware twice, before and after third-party middleware. That middleware then sees
 * every response of the inner one, and the outer one turns its errors into failures.
 */
export function respond(observer: HttpObserver, send: Send): Middleware<PlantStoreState> {
  const requestIds = new RequestIds();
  return async function respond(ctx: Context, next: Next) {
    const isInner = ctx.state.plantStore !== undefined;
    if (!isInner) begin(ctx);
    const { plantStore: state } = ctx.state;
    try {
      if (!isInner) checkHttp(ctx.req);
      await next();
      if (hasNoResponse(ctx)) throw new Error('no middleware has responded');
    } catch (cause) {
      fail(ctx, cause);
    }
    if (state.failure?.closes || hasUnreadBody(ctx)) ctx.res.shouldKeepAlive = false;
    const isClientGone = !ctx.writable && !ctx.res.headersSent;
    if (state.response === undefined) ctx.set('X-Request-Id', state.requestId);
    else if (!state.isSent) {
      state.isSent = true;
      send(ctx, state.response, state.requestId);
    }
    if (!isInner) end(ctx, isClientGone);
  };

  function begin(ctx: Context): void {
    ctx.state.plantStore = newRequestState(requestIds.of(ctx.req));
    observer.begun();
  }

  function end(ctx: Context, isClientGone: boolean): void {
    const { plantStore: state } = ctx.state;
    observer.ended({
      method: countedMethod(ctx.req.method),
      route: ctx._matchedRoute,
      status: isClientGone ? CLIENT_GONE : (state.response?.status ?? ctx.status),
      error: state.failure?.error,
      duration: performance.now() - state.startedAt,
      requestId: state.requestId,
      client: state.client,
      refusal: state.refusal,
    });
  }

  /** An error after the response was decided does not change it, so that a stored plant stays a 200. */
  function fail(ctx: Context, cause: unknown): void {
    const { plantStore: state } = ctx.state;
    const failure = toFailure(cause);
    if (failure.ours) observer.failed({ requestId: state.requestId, error: failure.error, cause });
    if (state.response !== undefined) return;
    state.failure = failure;
    state.refusal = refusalOf(cause);
    state.response = failureResponse(failure);
  }
}

function refusalOf(cause: unknown): Refusal | undefined {
  if (cause instanceof InvalidTokenError) return cause.reason;
  return cause instanceof PermissionDeniedError ? 'permission' : undefined;
}

/** Third-party middleware may have responded, for example to a CORS preflight. Without a response, Koa's status is 404. */
function hasNoResponse(ctx: Context): boolean {
  return ctx.state.plantStore.response === undefined && ctx.status === 404;
}

function hasUnreadBody({ req, state }: Context): boolean {
  return announcesBody(req) && !state.plantStore.bodyRead;
}
