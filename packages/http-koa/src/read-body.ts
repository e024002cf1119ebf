import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuseBroken } from './broken-request.js';
import { sendContinue } from './expect-continue.js';
import { HttpError } from './failures.js';
import { announcesBody } from './header-fields.js';

/**
 * Reads the body of a request, complete and unchanged.
 *
 * @param limit Bytes it may have at most.
 * @throws {HttpError} `BODY_MISSING`, `BODY_TOO_LARGE`, or what the request was found to break.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Buffer> {
  if (!announcesBody(request)) throw new HttpError('BODY_MISSING');
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new HttpError('BODY_TOO_LARGE');
  refuseBroken(request);
  sendContinue(request, response);
  const body = await readBytes(request, limit);
  if (body.length === 0) throw new HttpError('BODY_MISSING');
  return body;
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const endedEarly = () => reject(new HttpError('MALFORMED_REQUEST'));
    if (request.destroyed) return endedEarly();
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
      .on('error', (error) => (error instanceof HttpError ? reject(error) : endedEarly()));
  });
}
