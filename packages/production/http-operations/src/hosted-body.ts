import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
// The types of `ctx.request.body` and `rawBody`.
import type {} from 'koa-bodyparser';

/**
 * Hands over a body that a host has already read, as Google Cloud Functions and Firebase always do, or that arrives with the
 * request, as in AWS Lambda, where a body parser would wait for ever.
 */
export const hostedBody: Middleware = (ctx, next) => {
  const bytes = arrivedBytes(ctx.req);
  if (bytes !== undefined) {
    ctx.request.rawBody = bytes.toString('latin1');
    ctx.disableBodyParser = true;
  } else if (!ctx.req.readableDidRead) {
    // A parser of the host for other types has left `{}`, or was turned off.
    ctx.request.body = undefined;
    ctx.disableBodyParser = false;
  }
  return next();
};

function arrivedBytes(req: IncomingMessage & { rawBody?: unknown }): Buffer | undefined {
  if (Buffer.isBuffer(req.rawBody)) return req.rawBody;
  return req.complete && !req.readableDidRead ? (req.read() ?? Buffer.alloc(0)) : undefined;
}
