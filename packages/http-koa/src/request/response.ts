import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Plant } from '@plant-store/domain';
import type { Context } from 'koa';
import { type Failure, toFailure } from './failures.js';

/** Alternating names and values of headers, as in `rawHeaders` of Node.js. */
export type Headers = readonly string[];

/** A response, before it is sent. */
export interface Response {
  readonly status: number;
  /** The headers beside those of {@link EVERY_RESPONSE}. */
  readonly headers: Headers;
  /** The body; `undefined` for a response without content (RFC 9110 section 15.4.5). */
  readonly body: string | Buffer | undefined;
  /** What the response reports; `undefined` unless it is a failure. */
  readonly failure?: Failure;
}

/** The headers that every response has, however it is sent: their names, and their values by request id. */
export const EVERY_RESPONSE: ReadonlyMap<string, (requestId: string) => string> = new Map([
  ['X-Request-Id', (requestId: string) => requestId],
]);

const JSON_HEADERS: Headers = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
];

/** Returns a response with a JSON text, in which ids are exact, that must not be cached. */
export function jsonResponse(status: number, body: string): Response {
  return { status, headers: JSON_HEADERS, body };
}

/** Returns the response with a plant that was stored. Source: docs/specification.md, "Create a plant". */
export function plantResponse(plant: Plant): Response {
  return jsonResponse(200, JSON.stringify(plant));
}

/** Returns the response for an error, the form of every response that is not a 2xx. Source: docs/specification.md, "Error". */
export function failureResponse(cause: unknown): Response & { readonly failure: Failure } {
  const failure = toFailure(cause);
  const { status, error, message, challenge, retryAfter, allow } = failure;
  const headers = [
    ...JSON_HEADERS,
    ...(challenge === undefined ? [] : ['WWW-Authenticate', challenge]),
    ...(retryAfter === undefined ? [] : ['Retry-After', `${retryAfter}`]),
    ...(allow === undefined ? [] : ['Allow', allow]),
  ];
  return { status, headers, body: JSON.stringify({ error, message }), failure };
}

/** Returns all headers of a response, except those that Node.js adds. */
function allHeaders({ headers, body }: Response, requestId: string): string[] {
  const all = [...headers];
  if (body !== undefined) all.push('Content-Length', `${Buffer.byteLength(body)}`);
  for (const [name, valueFor] of EVERY_RESPONSE) all.push(name, valueFor(requestId));
  return all;
}

/** Sends a response in one write, unless headers were sent already. */
export function sendAtOnce(res: ServerResponse, response: Response, requestId: string): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(response.status, allHeaders(response, requestId));
  res.end(response.body);
}

/** Sends a response through Koa, so that outer middleware can read and change it. */
export function sendThroughKoa(ctx: Context, response: Response, requestId: string): void {
  ctx.status = response.status;
  const headers = allHeaders(response, requestId);
  for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at] ?? '', headers[at + 1] ?? '');
  if (response.body !== undefined) ctx.body = response.body;
}

/** Adds the headers of every response to one that third-party middleware sends through Koa. */
export function completeResponse(ctx: Context, requestId: string): void {
  for (const [name, valueFor] of EVERY_RESPONSE) ctx.set(name, valueFor(requestId));
}

/** Returns the text of a response for a request without a `ServerResponse`; it is the last of its connection. */
export function rawResponse(response: Response, requestId: string): string {
  const date = new Date().toUTCString();
  const headers = [...allHeaders(response, requestId), 'Date', date, 'Connection', 'close']
    .map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`))
    .join('');
  const { status, body } = response;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n${body}`;
}
