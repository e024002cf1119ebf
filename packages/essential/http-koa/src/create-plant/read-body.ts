import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { HttpError } from '../request/failures.js';
import { isRepeated } from '../request/headers.js';
import type { RequestState } from '../request/observe.js';

/** Reports a setup error: a body parser that ran first has rounded large ids, so its result is unusable. */
const ALREADY_READ =
  'another body parser has read the body before the plant store: register it after these routes, or turn it off for their paths';

/** Puts the bytes of a JSON body into `ctx.request.body`. koa-bodyparser only reads them, since `JSON.parse` rounds ids. */
export function readBody(limit: number): Middleware {
  const parse = bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    // @ts-expect-error: the types lack `null`, which means bytes (raw-body, `encoding`).
    encoding: null,
    textLimit: `${limit}b`,
    onerror(error) {
      const status = 'status' in error ? error.status : undefined;
      if (status === 413) throw tooLarge(limit);
      // The parser's own error: the client has gone. An error of the server names the rule that the body breaks.
      throw status === 400 && 'type' in error ? new HttpError('MALFORMED_REQUEST') : error;
    },
  });
  return function read(ctx, next) {
    const { req, request } = ctx;
    checkBody(ctx, limit);
    // A parser of the host for other types has left `{}`, or was turned off.
    request.body = undefined;
    ctx.disableBodyParser = false;
    const state: RequestState = ctx.state;
    if (!req.complete) {
      return parse(ctx, () => {
        state.arrivedAt = performance.now();
        return next();
      });
    }
    // This body needs no parser that waits for events of the stream, and one of AWS Lambda's adapters
    // (@codegenie/serverless-express) has marked the stream as unreadable by now.
    request.body = arrivedBody(req, limit);
    return next();
  };
}

const EMPTY = Buffer.alloc(0);

/** RFC 9110 section 8.3.1: with any parameters. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/** Not compressed, in any case of letters, perhaps stated by each of several proxies. */
const IDENTITY = /^identity(?:[ \t]*,[ \t]*identity)*$/i;

type Checked = Pick<Context, 'req' | 'writable'>;

/**
 * Checks the headers of the body, and spells them as the parser expects.
 *
 * @throws {HttpError} if the body is refused, or its arrival has already failed.
 */
function checkBody({ req, writable }: Checked, limit: number): void {
  const { headers } = req;
  // HTTP/2 needs neither header, and without one, Koa and the parser see no body.
  if (req.httpVersionMajor > 1) headers['transfer-encoding'] ??= 'chunked';
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || isRepeated(req, 'content-type')) {
    throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED');
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') {
    if (!IDENTITY.test(coding)) {
      const rule = 'the body must not be compressed: send it without Content-Encoding';
      throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED', rule);
    }
    // The parser accepts only one spelling, once.
    headers['content-encoding'] = 'identity';
  }
  // Node.js discards the body once a host has responded. Only the observer sees this failure.
  if (!writable) throw new HttpError('REQUEST_TIMEOUT');
  if (req.readableDidRead && !keptBytes(req)) throw new Error(ALREADY_READ);
  if (req.errored) throw req.errored;
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

/** Returns the bytes of a body that a host has already read, as Google Cloud Functions and Firebase always do. */
function keptBytes({ rawBody }: IncomingMessage & { rawBody?: unknown }): Buffer | undefined {
  return Buffer.isBuffer(rawBody) ? rawBody : undefined;
}

/** Returns a body that has arrived completely. @throws {HttpError} if it is larger than the limit. */
function arrivedBody(req: IncomingMessage, limit: number): Buffer {
  const body = keptBytes(req) ?? req.read() ?? EMPTY;
  if (body.length > limit) throw tooLarge(limit);
  return body;
}

function tooLarge(limit: number): HttpError {
  return new HttpError('BODY_TOO_LARGE', `the body must have at most ${limit} bytes`);
}
