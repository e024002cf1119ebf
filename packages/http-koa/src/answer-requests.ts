import type { IncomingMessage } from 'node:http';
import type { Middleware, ParameterizedContext } from 'koa';
import { type Answer, failureAnswer, sendAnswer } from './answer.js';
import { checkHttp } from './check-http.js';
import { type Failure, toFailure } from './failures.js';
import { announcesBody } from './header-fields.js';
import { CLIENT_GONE, countedMethod, type HttpObserver } from './http-observer.js';
import { requestIdOf } from './request-id.js';

/** What a request leaves behind for its answer. */
export interface RequestState {
  /** When it began, on the clock of `performance.now()`. */
  startedAt: number;
  /** The name of the client, once its token was verified. */
  client?: string;
  /** The answer, when it is not left to Koa. */
  answer?: Answer;
}

/**
 * The outermost step. It answers: with what the others left in `state.answer`, or with the one
 * form of a failure for whatever they threw. An answer that was given before the body was read
 * closes the connection. The observer is told of both.
 */
export function answerRequests(observer: HttpObserver): Middleware<RequestState> {
  return async function answerRequests(ctx, next) {
    const requestId = requestIdOf(ctx.req);
    const startedAt = performance.now();
    ctx.state.startedAt = startedAt;
    observer.begun();
    let failure: Failure | undefined;
    try {
      checkHttp(ctx.req);
      await next();
    } catch (cause) {
      failure = toFailure(cause);
      if (failure.ours) observer.failed({ requestId, error: failure.error, cause });
      ctx.state.answer = failureAnswer(failure);
    }
    const gone = !ctx.writable && !ctx.res.headersSent;
    finish(ctx, requestId, failure?.closes ?? false);
    observer.ended({
      method: countedMethod(ctx.req.method),
      route: ctx._matchedRoute,
      status: gone ? CLIENT_GONE : (ctx.state.answer?.status ?? ctx.res.statusCode),
      error: failure?.error,
      duration: performance.now() - startedAt,
      requestId,
      client: ctx.state.client,
    });
  };
}

/** Sends the answer that was left behind. Without one Koa sends what is in its context. */
function finish(ctx: ParameterizedContext<RequestState>, requestId: string, closes: boolean): void {
  if (closes || hasUnreadBody(ctx.req)) ctx.res.shouldKeepAlive = false;
  if (ctx.state.answer === undefined) {
    ctx.set('X-Request-Id', requestId);
    return;
  }
  ctx.respond = false;
  sendAnswer(ctx.res, ctx.state.answer, requestId);
}

function hasUnreadBody(request: IncomingMessage): boolean {
  return announcesBody(request) && !request.readableEnded;
}
