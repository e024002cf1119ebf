import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { HttpError } from '../frame/failures.js';
import { announcesBody } from '../frame/header-fields.js';
import { ReceivedRequest, refuseFailed } from '../frame/received-request.js';
import type { Context } from '../frame/respond.js';

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
   * Takes the body of a request that has arrived completely, without the steps of a stream.
   *
   * @throws {HttpError} `BODY_MISSING`, `BODY_TOO_LARGE`, or the failure of the request's arrival.
   */
  take(ctx: Context): Buffer {
    this.#begin(ctx);
    return checkedBody(ctx, arrivedBody(ctx.req, this.#limit));
  }

  /**
   * Receives the body of a request that is still arriving, through koa-bodyparser. Rejects as
   * {@link take} throws.
   */
  async receive(ctx: Context): Promise<Buffer> {
    this.#begin(ctx);
    return checkedBody(ctx, await parsedBody(ctx, this.#parse));
  }

  #begin({ req, res }: Context): void {
    if (!announcesBody(req)) throw new HttpError('BODY_MISSING');
    if (req.readableDidRead) throw new Error(ALREADY_READ);
    if (Number(req.headers['content-length'] ?? 0) > this.#limit) throw tooLarge(this.#limit);
    refuseFailed(req);
    sendContinue(req, res);
  }
}

function checkedBody({ plantStore }: Context, body: Buffer): Buffer {
  plantStore.bodyRead = true;
  if (body.length === 0) throw new HttpError('BODY_MISSING');
  return body;
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

async function noNext(): Promise<void> {}

function arrivedBody(request: IncomingMessage, limit: number): Buffer {
  if (request.readableLength > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  // Once, but Node 26 hands over one chunk at a time.
  while (request.readableLength > 0) chunks.push(request.read());
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

async function parsedBody(ctx: Context, parse: Middleware): Promise<Buffer> {
  const { req } = ctx;
  // The media type has been checked; parameters that are invalid would confuse the parser.
  req.headers['content-type'] = 'application/json';
  // The parser reads only bodies that a field announces, but bodies of HTTP/2 need none.
  if (req.httpVersionMajor === 2) req.headers['transfer-encoding'] = 'chunked';
  // What a parser in front, which has left the body alone, has set for this one too.
  ctx.request.body = undefined;
  ctx.disableBodyParser = false;
  const parsed = parse(ctx, noNext);
  if (req instanceof ReceivedRequest) await Promise.race([parsed, req.interruption()]);
  else await parsed;
  return ctx.request.body as Buffer;
}

function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (request instanceof ReceivedRequest && request.awaitsContinue) response.writeContinue();
}
