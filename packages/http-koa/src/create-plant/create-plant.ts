import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client, CreatePlant, TokenVerifier } from '@plant-store/domain';
import { newPlantParser } from '@plant-store/plant-json';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Operation } from '../request/exchange.js';
import { HttpError } from '../request/failures.js';
import { announcesBody, isRepeated } from '../request/headers.js';
import { OwnRequest } from '../request/own-request.js';
import { jsonResponse } from '../request/response.js';
import { hasResponded } from '../request/send.js';

/**
 * Refuses a client by rejecting, for example with `new HttpError('TOO_MANY_REQUESTS', undefined, { retryAfter: 30 })`. Any
 * error that `failures` does not list is a bug. It must settle by itself: the deadline of a request limits only the storage.
 */
export type Admit = (client: Client) => void | Promise<void>;

export interface CreatePlantOptions {
  readonly useCase: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  readonly admit: Admit | undefined;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
  readonly requestDeadlineMs: number;
}

const parseNewPlant = newPlantParser('the body');

/**
 * Creates `POST /plants` (docs/specification.md, "Create a plant"). It stops at the first check that fails. It checks the
 * credentials before it reads the body, and the load before it parses the body. The storage comes last.
 */
export function createPlantOperation(options: CreatePlantOptions): Operation {
  const { useCase, tokenVerifier, admit, requestDeadlineMs, bodyLimit } = options;
  const read = bodyReader(bodyLimit);

  return async function createPlant(exchange) {
    const client = await exchange.authenticate(tokenVerifier);
    if (admit) await admit(client);
    const { req, res } = exchange.ctx;
    checkBody(req, res, bodyLimit);
    const { complete, headers, httpVersion } = req;
    // RFC 9110 section 10.1.1: a client of HTTP/1.0 does not wait.
    const awaitsContinue = headers.expect !== undefined && httpVersion === '1.1';
    if (awaitsContinue && req instanceof OwnRequest) res.writeContinue();
    const body = complete ? arrivedBody(req) : await read(req);
    if (body.length === 0) throw new HttpError('BODY_MISSING');
    if (body.length > bodyLimit) throw tooLarge(bodyLimit);
    // It is unknown when a body arrived that was complete before it was read: at the start at the earliest.
    const deadlineFrom = complete ? exchange.startedAt : performance.now();
    return exchange.carryOut(async () => {
      const newPlant = parseNewPlant(body);
      const timeLimitMs = deadlineFrom + requestDeadlineMs - performance.now();
      return jsonResponse(200, await useCase.execute(client, newPlant, timeLimitMs));
    });
  };
}

/** RFC 9110 section 8.3.1: with any parameters. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;
const IDENTITY = /^identity(?:, identity)*$/i;

const EMPTY = Buffer.alloc(0);

/** Reports a setup error: a body parser that ran first has rounded large ids, so its result is unusable. */
const ALREADY_READ =
  'another body parser has read the body before the plant store: register it after these routes, or turn it off for their paths';

/** Checks the headers of the body. @throws {HttpError} if the body is refused, or its arrival has already failed. */
function checkBody(request: IncomingMessage, response: ServerResponse, limit: number): void {
  const { headers } = request;
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || isRepeated(request, 'content-type')) {
    throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED');
  }
  if (!IDENTITY.test(headers['content-encoding'] ?? 'identity')) {
    const rule = 'the body must not be compressed: send it without Content-Encoding';
    throw new HttpError('MEDIA_TYPE_NOT_SUPPORTED', rule);
  }
  if (request instanceof OwnRequest && !announcesBody(request)) throw new HttpError('BODY_MISSING');
  // Node.js discards the body once a host has responded. Only the observer sees this failure.
  if (hasResponded(response)) throw new HttpError('REQUEST_TIMEOUT');
  if (request.readableDidRead) throw new Error(ALREADY_READ);
  if (request.errored) throw request.errored;
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

/**
 * Returns the body of a request that has arrived completely. This bypasses koa-bodyparser and the events of the stream, which
 * would cost a create 9 % more CPU time at 50 connections.
 */
function arrivedBody(request: IncomingMessage): Buffer {
  const chunks: Buffer[] = [];
  // Once, but Node 26 hands over one chunk at a time. Adapters of AWS Lambda add the body while it is read.
  do chunks.push(request.read() ?? EMPTY);
  while (request.readableLength > 0);
  const [first = EMPTY] = chunks;
  return chunks.length === 1 ? first : Buffer.concat(chunks);
}

/** Returns a reader of bodies that are still arriving: koa-bodyparser in text mode, since its JSON mode rounds ids. */
function bodyReader(limit: number): (request: IncomingMessage) => Promise<Buffer> {
  const parse = bodyParser({
    enableTypes: ['text'],
    // @ts-expect-error: the types lack `null`, which means bytes (raw-body, `encoding`).
    encoding: null,
    textLimit: `${limit}b`,
    onerror(error) {
      const status = 'status' in error ? error.status : undefined;
      if (status === 413) throw tooLarge(limit);
      // The client has gone.
      throw status === 400 ? new HttpError('MALFORMED_REQUEST') : error;
    },
  });
  return async function read(req) {
    if (req instanceof OwnRequest) req.isReadWhole = true;
    // The parser accepts only one spelling of `identity`.
    delete req.headers['content-encoding'];
    // With Koa's context, the parser would compare `Content-Type` more narrowly than we do, find no body in HTTP/2 without
    // `Content-Length`, and skip a body that another parser has left alone.
    const request = { is: () => true, body: undefined as Buffer | undefined };
    await parse({ req, request } as unknown as Context, async () => {});
    return request.body ?? EMPTY;
  };
}

function tooLarge(limit: number): HttpError {
  return new HttpError('BODY_TOO_LARGE', `the body must have at most ${limit} bytes`);
}
