import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { refuseBroken } from './broken-request.js';
import { sendContinue } from './expect-continue.js';
import { HttpError } from './failures.js';
import { announcesBody } from './header-fields.js';

/**
 * Makes a function that reads the body of a request, complete and unchanged.
 *
 * @param limit Bytes it may have at most.
 */
export function bodyReader(limit: number): (ctx: Context) => Promise<Buffer> {
  const readBytes = bytesReader(limit);
  return async function readBody(ctx) {
    const { req, res } = ctx;
    if (!announcesBody(req)) throw new HttpError('BODY_MISSING');
    if (Number(req.headers['content-length'] ?? 0) > limit) throw new HttpError('BODY_TOO_LARGE');
    refuseBroken(req);
    sendContinue(req, res);
    await readBytes(ctx, async () => {});
    const body = ctx.request.body as Buffer;
    if (body.length === 0) throw new HttpError('BODY_MISSING');
    return body;
  };
}

/**
 * koa-bodyparser as far as it can keep the contract: it applies the limit and hands over the
 * bytes. Its JSON mode would round numbers, merge doubled names and replace invalid UTF-8.
 */
function bytesReader(limit: number) {
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    encoding: null, // not in its types: no decoding, a Buffer
    textLimit: limit,
    onerror(error: Error) {
      if (error instanceof HttpError) throw error;
      const tooLarge = 'type' in error && error.type === 'entity.too.large';
      throw new HttpError(tooLarge ? 'BODY_TOO_LARGE' : 'MALFORMED_REQUEST');
    },
  };
  return bodyParser(options as unknown as bodyParser.Options);
}
