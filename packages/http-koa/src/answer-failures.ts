import type { Context, Middleware } from 'koa';
import { failureAnswer } from './failure-answer.js';
import { toFailure } from './failures.js';
import { announcesBody } from './header-fields.js';
import { requestIdOf } from './request-id.js';

/** What the driver tells about failures that are the service's own, so that they can be logged. */
export interface FailureReport {
  readonly requestId: string;
  /** The number that the client was answered. */
  readonly error: number;
  readonly cause: unknown;
}

/**
 * The outermost step: whatever the others throw becomes the one form of an answer, and an answer
 * that was given before the body was read closes the connection.
 */
export function answerFailures(report: (failure: FailureReport) => void): Middleware {
  return async function answerFailures(ctx, next) {
    const requestId = requestIdOf(ctx.req);
    ctx.set('X-Request-Id', requestId);
    ctx.state.startedAt = performance.now();
    try {
      await next();
    } catch (cause) {
      const failure = toFailure(cause);
      if (failure.ours) report({ requestId, error: failure.error, cause });
      writeFailure(ctx, failure);
    }
    if (announcesBody(ctx.req) && !ctx.req.readableEnded) ctx.set('Connection', 'close');
  };
}

function writeFailure(ctx: Context, failure: ReturnType<typeof toFailure>): void {
  if (ctx.headerSent) return;
  const { status, headers, body } = failureAnswer(failure);
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
}
