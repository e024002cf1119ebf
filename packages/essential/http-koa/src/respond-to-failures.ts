import { METHODS } from 'node:http';
import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { type Failure, type FailureCode, failures, HttpError } from './failures.js';
import { respondWithJson } from './respond-with-json.js';

/** What a failed request leaves in `ctx.state`, for your log. */
export interface FailureState {
  failure?: Failure;
  cause?: unknown;
}

/** Responds to every error of the middleware after it. Failures of the service are emitted as `error` on the application. */
export const respondToFailures: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (cause) {
    const failure = toFailure(cause);
    const state: FailureState = ctx.state;
    state.failure = failure;
    state.cause = cause;
    if (failure.ours) {
      ctx.app.emit(
        'error',
        cause instanceof Error ? cause : new Error('not an error', { cause }),
        ctx,
      );
    }
    // Otherwise the client has gone, or a host application has responded.
    if (ctx.writable) respondWith(ctx, failure);
  }
};

/** The errors whose own message is sent to the client: they come from the server, `plant-json` and the domain. */
const WITH_OWN_MESSAGE: ReadonlySet<FailureCode> = new Set([
  'MALFORMED_REQUEST',
  'INVALID_JSON',
  'INVALID_NEW_PLANT',
]);

/** Returns the failure for an error. An unlisted error is a bug, whose failure is constant and reveals nothing. */
export function toFailure(error: unknown): Failure {
  if (error instanceof HttpError) return error.failure;
  if (!(error instanceof Error && isListed(error))) return failures.INTERNAL;
  const { code, message } = error;
  return WITH_OWN_MESSAGE.has(code) ? { ...failures[code], message } : failures[code];
}

function isListed(error: Error): error is Error & { readonly code: FailureCode } {
  return 'code' in error && Object.hasOwn(failures, String(error.code));
}

/** Responds with a failure. Every response but a 2xx or 304 has this format. Source: docs/specification.md, "Error". */
export function respondWith(ctx: Pick<Context, 'response'>, failure: Failure): void {
  const { status, error, message, challenge, retryAfter, allow } = failure;
  const { response } = ctx;
  response.status = status;
  if (challenge !== undefined) response.set('WWW-Authenticate', challenge);
  if (retryAfter !== undefined) response.set('Retry-After', `${retryAfter}`);
  if (allow !== undefined) response.set('Allow', allow);
  respondWithJson(ctx, { error, message });
}

/** Refuses the other methods of a path. */
export function allowOnly(router: Router, path: string, ...allowed: string[]): void {
  const others = METHODS.filter((method) => !allowed.includes(method));
  const failure = { ...failures.METHOD_NOT_ALLOWED, allow: allowed.join(', ') };
  router.register(path, others, () => {
    throw new HttpError(failure);
  });
}

/** Refuses what no route has matched. */
export const pathNotFound: Middleware = () => {
  throw new HttpError(failures.PATH_NOT_FOUND);
};
