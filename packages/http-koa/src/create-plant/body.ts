import type { IncomingMessage } from 'node:http';
import type { ParameterizedContext } from 'koa';
import { refuseBroken } from '../frame/broken-request.js';
import { sendContinue } from '../frame/expect-continue.js';
import { HttpError } from '../frame/failures.js';
import { announcesBody } from '../frame/header-fields.js';
import type { RequestState } from '../frame/respond.js';

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
  const body = new Gathered(limit);
  // Once, but Node 26 hands out one chunk at a time.
  while (request.readableLength > 0) body.add(request.read());
  return body.bytes;
}

function readArriving(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const endedEarly = () => reject(new HttpError('MALFORMED_REQUEST'));
    if (request.destroyed) return endedEarly();
    const body = new Gathered(limit);
    request
      .on('data', (chunk: Buffer) => {
        try {
          body.add(chunk);
        } catch (error) {
          request.removeAllListeners('data').pause();
          reject(error);
        }
      })
      .on('end', () => resolve(body.bytes))
      .on('error', (error) => (error instanceof HttpError ? reject(error) : endedEarly()));
  });
}

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * The bytes that have come, in a buffer that may be longer. Chunks are not kept, as each takes some
 * 300 bytes however small it is. Most bodies come in one: the first is not copied.
 */
class Gathered {
  readonly #limit: number;
  #buffer = NOTHING;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): Buffer {
    if (this.#buffer.length === this.#length) return this.#buffer;
    return this.#buffer.subarray(0, this.#length);
  }

  /** @throws {HttpError} `BODY_TOO_LARGE`, and keeps none of the chunk. */
  add(chunk: Buffer): void {
    const end = this.#length + chunk.length;
    if (end > this.#limit) throw new HttpError('BODY_TOO_LARGE');
    if (this.#length === 0) this.#buffer = chunk;
    else this.#append(chunk, end);
    this.#length = end;
  }

  #append(chunk: Buffer, end: number): void {
    if (end > this.#buffer.length) {
      this.#buffer = Buffer.concat([this.#buffer], Math.min(2 * end, this.#limit));
    }
    chunk.copy(this.#buffer, this.#length);
  }
}
