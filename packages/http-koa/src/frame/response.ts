import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Plant } from '@plant-store/domain';
import type { Failure } from './failures.js';

/** Names and values of header fields in turn, as in Node's `rawHeaders`. */
export type Fields = readonly string[];

/** An answer, before it goes over the wire. */
export interface Answer {
  readonly status: number;
  /** Beside those that every answer has. */
  readonly fields: Fields;
  /** Without one the answer has no content at all (RFC 9110 section 15.4.5). */
  readonly body: string | Buffer | undefined;
}

const JSON_FIELDS: Fields = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
];

/** A JSON text that is true only now. */
export function jsonAnswer(status: number, value: object, fields: Fields = []): Answer {
  return { status, fields: [...JSON_FIELDS, ...fields], body: JSON.stringify(value) };
}

/** A plant that was stored. Source: specification, "Create a plant". */
export function plantAnswer(plant: Plant): Answer {
  return jsonAnswer(200, plant);
}

/** The one form of every answer that is not a 2xx. Source: specification, "Error". */
export function failureAnswer({ status, error, message, challenge, retryAfter }: Failure): Answer {
  return jsonAnswer(status, { error, message }, [
    ...(challenge === undefined ? [] : ['WWW-Authenticate', challenge]),
    ...(retryAfter === undefined ? [] : ['Retry-After', `${retryAfter}`]),
  ]);
}

/** Sends an answer in one piece, unless the headers of another have been sent. */
export function sendAnswer(response: ServerResponse, answer: Answer, requestId: string): void {
  if (response.headersSent) return;
  response.writeHead(answer.status, fieldsOf(answer, requestId));
  response.end(answer.body);
}

/** An answer as bytes, for a request of which no `ServerResponse` exists. It is the last of its connection. */
export function rawAnswer(answer: Answer, requestId: string): string {
  const date = new Date().toUTCString();
  const fields = [...fieldsOf(answer, requestId), 'Date', date, 'Connection', 'close']
    .map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`))
    .join('');
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${fields}\r\n${answer.body}`;
}

function fieldsOf({ fields, body }: Answer, requestId: string): string[] {
  const length = body === undefined ? [] : ['Content-Length', `${Buffer.byteLength(body)}`];
  return [...fields, ...length, 'X-Request-Id', requestId];
}
