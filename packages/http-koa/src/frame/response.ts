import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Plant } from '@plant-store/domain';
import type { Failure } from './failures.js';

/** Alternating names and values of header fields, as in `rawHeaders` of Node.js. */
export type Fields = readonly string[];

/** A response, before it is sent. */
export interface Response {
  readonly status: number;
  /** The fields beside those of every response. */
  readonly fields: Fields;
  /** The body; `undefined` for a response without content (RFC 9110 section 15.4.5). */
  readonly body: string | Buffer | undefined;
}

const JSON_FIELDS: Fields = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
];

/** Returns a response with a JSON text, in which ids are exact, that must not be cached. */
export function jsonResponse(status: number, body: string, fields?: Fields): Response {
  const withJson = fields === undefined ? JSON_FIELDS : [...JSON_FIELDS, ...fields];
  return { status, fields: withJson, body };
}

/** Returns the response with a plant that was stored. Source: docs/specification.md, "Create a plant". */
export function plantResponse(plant: Plant): Response {
  return jsonResponse(200, JSON.stringify(plant));
}

/** Returns the response for a failure, the form of every response that is not a 2xx. Source: docs/specification.md, "Error". */
export function failureResponse(failure: Failure): Response {
  const { status, error, message, challenge, retryAfter, allow } = failure;
  return jsonResponse(status, JSON.stringify({ error, message }), [
    ...(challenge === undefined ? [] : ['WWW-Authenticate', challenge]),
    ...(retryAfter === undefined ? [] : ['Retry-After', `${retryAfter}`]),
    ...(allow === undefined ? [] : ['Allow', allow]),
  ]);
}

/** Returns all fields of a response, except those that Node.js adds. */
function allFields({ fields, body }: Response, requestId: string): string[] {
  const length = body === undefined ? [] : ['Content-Length', `${Buffer.byteLength(body)}`];
  return [...fields, ...length, 'X-Request-Id', requestId];
}

/** Sends a response unless headers were sent already. */
export function sendResponse(res: ServerResponse, response: Response, requestId: string): void {
  if (res.headersSent) return;
  res.writeHead(response.status, allFields(response, requestId));
  res.end(response.body);
}

/** Returns the text of a response for a request without a `ServerResponse`; it is the last of its connection. */
export function rawResponse(response: Response, requestId: string): string {
  const date = new Date().toUTCString();
  const fields = [...allFields(response, requestId), 'Date', date, 'Connection', 'close']
    .map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`))
    .join('');
  const { status, body } = response;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields}\r\n${body}`;
}
