import type { Middleware, ParameterizedContext } from 'koa';
import { checkHttp } from './check-http.js';
import { type Failure, toFailure } from './failures.js';
import { announcesBody } from './header-fields.js';
import { CLIENT_GONE, countedMethod, type HttpObserver } from './http-observer.js';
import { requestIdOf } from './request-id.js';
import { type Answer, failureAnswer, sendAnswer } from './response.js';

/** What a request leaves behind for its answer. */
export interface RequestState {
  /** When it began, on the clock of `performance.now()`. */
  startedAt: number;
  /** Whether all of its body was read, so that the next request can follow. */
  bodyRead?: boolean;
  /** The name of the client, once its token was verified. */
  client?: string;
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
    let answer: Answer;
    try {
      checkHttp(ctx.req);
      await next();
      answer = answerOf(ctx.state);
    } catch (cause) {
      failure = toFailure(cause);
      if (failure.ours) observer.failed({ requestId, error: failure.error, cause });
      answer = failureAnswer(failure);
    }
    const gone = !ctx.writable && !ctx.res.headersSent;
    if (failure?.closes || hasUnreadBody(ctx)) ctx.res.shouldKeepAlive = false;
    sendAnswer(ctx.res, answer, requestId);
    observer.ended({
      method: countedMethod(ctx.req.method),
      route: ctx._matchedRoute,
      status: gone ? CLIENT_GONE : answer.status,
      error: failure?.error,
      duration: performance.now() - startedAt,
      requestId,
      client: ctx.state.client,
    });
  };
}

function answerOf({ answer }: RequestState): Answer {
  if (answer === undefined) throw new Error('no step has left an answer');
  return answer;
}

function hasUnreadBody({ req, state }: ParameterizedContext<RequestState>): boolean {
  return announcesBody(req) && !state.bodyRead;
}
