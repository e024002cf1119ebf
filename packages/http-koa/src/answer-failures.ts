import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { failureAnswer } from './failure-answer.js';
import { type Failure, toFailure } from './failures.js';
import { announcesBody } from './header-fields.js';
import { CLIENT_GONE, countedMethod, type HttpObserver } from './http-observer.js';
import { requestIdOf } from './request-id.js';

/**
 * The outermost step: whatever the others throw becomes the one form of an answer, and an answer
 * that was given before the body was read closes the connection. Tells the observer of both.
 */
export function answerFailures(observer: HttpObserver): Middleware {
  return async function answerFailures(ctx, next) {
    const requestId = requestIdOf(ctx.req);
    ctx.set('X-Request-Id', requestId);
    ctx.state.startedAt = performance.now();
    observer.begun();
    let failure: Failure | undefined;
    try {
      await next();
    } catch (cause) {
      failure = toFailure(cause);
      if (failure.ours) observer.failed({ requestId, error: failure.error, cause });
      writeFailure(ctx, failure);
    }
    if (failure?.closes || hasUnreadBody(ctx.req)) closeConnection(ctx);
    observer.ended({
      method: countedMethod(ctx.method),
      route: ctx._matchedRoute,
      status: ctx.headerSent || ctx.writable ? ctx.res.statusCode : CLIENT_GONE,
      error: failure?.error,
      duration: performance.now() - ctx.state.startedAt,
      requestId,
      client: ctx.state.client?.name,
    });
  };
}

function writeFailure(ctx: Context, failure: Failure): void {
  if (ctx.headerSent) return;
  const { status, headers, body } = failureAnswer(failure);
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
}

function hasUnreadBody(request: IncomingMessage): boolean {
  return announcesBody(request) && !request.readableEnded;
}

function closeConnection(ctx: Context): void {
  if (!ctx.headerSent) ctx.set('Connection', 'close');
}
