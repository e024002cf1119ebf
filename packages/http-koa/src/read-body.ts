import type { IncomingMessage } from 'node:http';
import type { ParameterizedContext } from 'koa';
import type { RequestState } from './answer-requests.js';
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
  { req, res, state }: ParameterizedContext<RequestState>,
  limit: number,
): Promise<Buffer> {
  if (!announcesBody(req)) throw new HttpError('BODY_MISSING');
  if (Number(req.headers['content-length'] ?? 0) > limit) throw new HttpError('BODY_TOO_LARGE');
  refuseBroken(req);
  sendContinue(req, res);
  const body = req.complete ? readArrived(req, limit) : await readArriving(req, limit);
  state.bodyRead = true;
  if (body.length === 0) throw new HttpError('BODY_MISSING');
  return body;
}

/** What has arrived before the request's turn came is read without the steps of a stream. */
function readArrived(request: IncomingMessage, limit: number): Buffer {
  const chunks: Buffer[] = [];
  while (request.readableLength > 0) chunks.push(request.read());
  const body = joined(chunks);
  if (body.length > limit) throw new HttpError('BODY_TOO_LARGE');
  return body;
}

function readArriving(request: IncomingMessage, limit: number): Promise<Buffer> {
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
      .on('end', () => resolve(joined(chunks)))
      .on('error', (error) => (error instanceof HttpError ? reject(error) : endedEarly()));
  });
}

/** Most bodies come in one piece, which need not be copied. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}
