import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Context } from 'koa';
import { type Failure, toFailure } from './failures.js';
import { announcesBody } from './headers.js';

/** A response, before it is sent. */
export interface Response {
  readonly status: number;
  /** Alternating names and values, without `Content-Length` and `X-Request-Id`. */
  readonly headers: readonly string[];
  /** The body; `undefined` for a response without content (RFC 9110 section 15.4.5). */
  readonly body: string | Buffer | undefined;
  /** What the response reports; `undefined` unless it is a failure. */
  readonly failure?: Failure;
}

const JSON_HEADERS = [
  ...['Content-Type', 'application/json; charset=utf-8'],
  ...['Cache-Control', 'no-store'],
];

/** Returns a response with a value as JSON, that must not be cached. */
export function jsonResponse(status: number, value: object): Response {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

/** Returns the response for an error, the form of every response that is not a 2xx. Source: docs/specification.md, "Error". */
export function failureResponse(cause: unknown): Response & { readonly failure: Failure } {
  const failure = toFailure(cause);
  const { status, error, message, challenge, retryAfter, allow } = failure;
  const headers = [...JSON_HEADERS];
  if (challenge !== undefined) headers.push('WWW-Authenticate', challenge);
  if (retryAfter !== undefined) headers.push('Retry-After', `${retryAfter}`);
  if (allow !== undefined) headers.push('Allow', allow);
  return { status, headers, body: JSON.stringify({ error, message }), failure };
}

/** Returns all headers of a response, except those that Node.js adds. */
function allHeaders({ headers, body }: Response, requestId: string): string[] {
  const all = [...headers, 'X-Request-Id', requestId];
  if (body !== undefined) all.push('Content-Length', `${Buffer.byteLength(body)}`);
  return all;
}

/** Sends a response, in one write or through Koa. Closes the connection after it if that is not at a known position. */
export function send(ctx: Context, response: Response, requestId: string): void {
  closeUnlessRead(ctx);
  if (response.failure?.closes) ctx.res.shouldKeepAlive = false;
  if (ctx.isDirect) sendAtOnce(ctx.res, response, requestId);
  else sendThroughKoa(ctx, response, requestId);
}

/** Closes the connection after a response that is sent before the body was read. */
export function closeUnlessRead({ req, res }: Context): void {
  const isRead = !announcesBody(req) || (req.complete && req.readableLength === 0);
  if (!isRead) res.shouldKeepAlive = false;
}

/** Sends a response in one write, unless headers were sent already. */
export function sendAtOnce(res: ServerResponse, response: Response, requestId: string): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(response.status, allHeaders(response, requestId));
  res.end(response.body);
}

/** Sends a response through Koa, so that outer middleware can read and change it. */
function sendThroughKoa(ctx: Context, response: Response, requestId: string): void {
  ctx.status = response.status;
  const headers = allHeaders(response, requestId);
  for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at] ?? '', headers[at + 1] ?? '');
  if (response.body !== undefined) ctx.body = response.body;
}

/** Returns the text of a response for a request without a `ServerResponse`; it is the last of its connection. */
export function rawResponse(response: Response, requestId: string): string {
  const { status, body } = response;
  const date = new Date().toUTCString();
  const headers = [...allHeaders(response, requestId), 'Date', date, 'Connection', 'close']
    .map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`))
    .join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n${body}`;
}
