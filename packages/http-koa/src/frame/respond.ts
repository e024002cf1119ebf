import type { Middleware, Next, ParameterizedContext } from 'koa';
import { checkHttp } from './check-http.js';
import { countedMethod } from './counted-method.js';
import { toFailure } from './failures.js';
import { announcesBody } from './header-fields.js';
import { CLIENT_GONE, type HttpObserver } from './http-observer.js';
import { newRequestState, type PlantStoreState } from './request-state.js';
import { failureResponse } from './response.js';
import type { Send } from './send.js';

type Context = ParameterizedContext<PlantStoreState>;

/**
 * Decides every response: the one that the steps after it have left in the state, or the one form of a
 * failure for what they threw. The observer hears of each request once.
 *
 * An application may have this middleware twice, around the middleware of others: then they see every
 * response of the inner one, and what they throw themselves gets the one form, too.
 */
export function respond(observer: HttpObserver, send: Send): Middleware<PlantStoreState> {
  return async function respond(ctx: Context, next: Next) {
    const isInner = ctx.state.plantStore !== undefined;
    if (isInner) {
      await settle(ctx, next);
      return;
    }
    const state = newRequestState(ctx.req);
    ctx.state.plantStore = state;
    observer.begun();
    const isSent = await settle(ctx, () => {
      checkHttp(ctx.req);
      return next();
    });
    observer.ended({
      method: countedMethod(ctx.req.method),
      route: ctx._matchedRoute,
      status: isSent ? (state.response?.status ?? ctx.status) : CLIENT_GONE,
      error: state.failure?.error,
      duration: performance.now() - state.startedAt,
      requestId: state.requestId,
      client: state.client,
    });
  };

  /** Resolves with whether there was still a client to respond to. */
  async function settle(ctx: Context, steps: Next): Promise<boolean> {
    const { plantStore: state } = ctx.state;
    try {
      await steps();
      if (isUnanswered(ctx)) throw new Error('no middleware has responded');
    } catch (cause) {
      fail(ctx, cause);
    }
    const { response, failure } = state;
    if (failure?.closes || hasUnreadBody(ctx)) ctx.res.shouldKeepAlive = false;
    const isGone = !ctx.writable && !ctx.res.headersSent;
    if (response !== undefined && !state.isSent) {
      state.isSent = true;
      send(ctx, response, state.requestId);
    }
    return !isGone;
  }

  /** What is thrown after a response was decided does not change it: a stored plant stays a 200. */
  function fail(ctx: Context, cause: unknown): void {
    const { plantStore: state } = ctx.state;
    const failure = toFailure(cause);
    if (failure.ours) observer.failed({ requestId: state.requestId, error: failure.error, cause });
    if (state.response !== undefined) return;
    state.failure = failure;
    state.response = failureResponse(failure);
  }
}

/** Middleware of others may respond by itself, as to a CORS preflight. 404 is Koa's status where none has. */
function isUnanswered(ctx: Context): boolean {
  return ctx.state.plantStore.response === undefined && ctx.status === 404;
}

function hasUnreadBody({ req, state }: Context): boolean {
  return announcesBody(req) && !state.plantStore.bodyRead;
}
