import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Context } from '../request/exchange.js';
import { HttpError } from '../request/failures.js';
import { OwnRequest } from '../request/fast-koa.js';
import { announcesBody, headerValues } from '../request/headers.js';

/** A fault of the set-up. A parser has rounded large ids, so its result cannot be used. */
const ALREADY_READ =
  'another body parser has read the body before the plant store: register it after these routes, or turn it off for their paths';

/** Reads bodies as the bytes that were sent. */
export class BodyReader {
  readonly #limit: number;
  readonly #parse: Middleware;

  /** @param limit The largest body in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#parse = rawBodyParser(limit);
  }

  /**
   * Resolves with the body, which is not empty. Rejects with `MEDIA_TYPE_NOT_SUPPORTED`, `BODY_MISSING`,
   * `BODY_TOO_LARGE`, or the failure of the request's arrival.
   */
  async read(ctx: Context): Promise<Buffer> {
    const { req, res } = ctx;
    checkMediaType(req);
    if (req instanceof OwnRequest && !announcesBody(req)) throw new HttpError('BODY_MISSING');
    if (req.readableDidRead) throw new Error(ALREADY_READ);
    if (req.errored) throw req.errored;
    if (Number(req.headers['content-length'] ?? 0) > this.#limit) throw tooLarge(this.#limit);
    if (req instanceof OwnRequest && awaitsContinue(req)) res.writeContinue();
    const hasArrived = req instanceof OwnRequest && req.complete;
    const body = hasArrived ? arrivedBody(req, this.#limit) : await receivedBody(ctx, this.#parse);
    if (body.length === 0) throw new HttpError('BODY_MISSING');
    return body;
  }
}

/** RFC 9110 section 8.3.1. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/** Checks that the body is `application/json`, with any parameters, and not compressed. @throws {HttpError} */
function checkMediaType(request: IncomingMessage): void {
  const [type = '', another] = headerValues(request, 'content-type');
  if (another !== undefined || !JSON_TYPE.test(type)) {
    throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED');
  }
  for (const coding of headerValues(request, 'content-encoding')) {
    if (coding.toLowerCase() !== 'identity') {
      throw new HttpError(
        'MEDIA_TYPE_NOT_SUPPORTED',
        'the body must not be compressed: send it without Content-Encoding',
      );
    }
  }
}

/** RFC 9110 section 10.1.1: a client of HTTP/1.0 does not wait. */
function awaitsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === '1.1';
}

function arrivedBody(request: OwnRequest, limit: number): Buffer {
  if (request.readableLength > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  // Once, but Node 26 hands over one chunk at a time.
  while (request.readableLength > 0) chunks.push(request.read());
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

/** Resolves with a body that may still be arriving, through koa-bodyparser. */
async function receivedBody(ctx: Context, parse: Middleware): Promise<Buffer> {
  describeAsJson(ctx.req);
  // @codegenie/serverless-express denies it once the request has begun, although nobody has read the body.
  ctx.req.readable = true;
  // What a parser in front, which has left the body alone, has set for this one too.
  ctx.request.body = undefined;
  ctx.disableBodyParser = false;
  await parse(ctx, async () => {});
  return ctx.request.body as Buffer;
}

/** The parser is strict about headers that were checked before, and reads only bodies that a header announces. */
function describeAsJson({ headers }: IncomingMessage): void {
  headers['content-type'] = 'application/json';
  delete headers['content-encoding'];
  if (headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
}

function rawBodyParser(limit: number): Middleware {
  return bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    // @ts-expect-error: the types lack `null`, which means bytes (raw-body, `encoding`).
    encoding: null,
    textLimit: `${limit}b`,
    onerror(error) {
      throw 'type' in error && error.type === 'entity.too.large' ? tooLarge(limit) : error;
    },
  });
}

function tooLarge(limit: number): HttpError {
  return new HttpError('BODY_TOO_LARGE', `the body must have at most ${limit} bytes`);
}
