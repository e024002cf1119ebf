import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
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
  return async function readBody(ctx) {
    const { req, res } = ctx;
    if (!announcesBody(req)) throw new HttpError('BODY_MISSING');
    if (Number(req.headers['content-length'] ?? 0) > limit) throw new HttpError('BODY_TOO_LARGE');
    refuseBroken(req);
    sendContinue(req, res);
    const body = await readBytes(req, limit);
    if (body.length === 0) throw new HttpError('BODY_MISSING');
    return body;
  };
}

/** Reads the bytes of the body, unless there are more than `limit`. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length <= limit) {
          chunks.push(chunk);
          return;
        }
        request.removeAllListeners('data').pause();
        reject(new HttpError('BODY_TOO_LARGE'));
      })
      .on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
      .on('error', (error) => {
        reject(error instanceof HttpError ? error : new HttpError('MALFORMED_REQUEST'));
      });
  });
}
