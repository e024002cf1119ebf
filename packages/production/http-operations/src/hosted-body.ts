import type { IncomingMessage } from 'node:http';
import { failures, HttpError } from '@plant-store/http-koa';
import type { Middleware } from 'koa';
// The types of `ctx.request.body` and `rawBody`.
import type {} from 'koa-bodyparser';

/**
 * Hands over a body that a host has already read, as Google Cloud Functions and Firebase always do, or that arrives with the
 * request, as in AWS Lambda, where a body parser would wait for ever.
 */
export function hostedBody(limit = 16_384): Middleware {
  return (ctx, next) => {
    const bytes = arrivedBytes(ctx.req);
    // A parser of the host for other types has left `{}`, or was turned off.
    if (bytes === undefined && !ctx.req.readableDidRead) {
      ctx.request.body = undefined;
      ctx.disableBodyParser = false;
    }
    if (bytes === undefined) return next();
    if (bytes.length > limit) {
      throw new HttpError({
        ...failures.BODY_TOO_LARGE,
        message: `the body must have at most ${limit} bytes`,
      });
    }
    ctx.request.rawBody = bytes.toString('latin1');
    ctx.disableBodyParser = true;
    return next();
  };
}

function arrivedBytes(req: IncomingMessage & { rawBody?: unknown }): Buffer | undefined {
  if (Buffer.isBuffer(req.rawBody)) return req.rawBody;
  return req.complete && !req.readableDidRead ? (req.read() ?? Buffer.alloc(0)) : undefined;
}
