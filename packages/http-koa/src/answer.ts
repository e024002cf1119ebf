import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Plant } from '@plant-store/domain';
import { atEndOfTurn } from './end-of-turn.js';
import type { Failure } from './failures.js';

/** Names and values of header fields in turn, as in Node's `rawHeaders`. */
export type Fields = readonly string[];

/** An answer with a JSON body, before it goes over the wire. */
export interface Answer {
  readonly status: number;
  /** Beside those that every answer has. */
  readonly fields: Fields;
  readonly body: string;
}

const NO_FIELDS: Fields = [];

/** A plant that was stored. Source: specification, "Create a plant". */
export function plantAnswer(plant: Plant): Answer {
  return { status: 200, fields: NO_FIELDS, body: JSON.stringify(plant) };
}

/** The one form of every answer that is not a 2xx. Source: specification, "Error". */
export function failureAnswer({ status, error, message, challenge, retryAfter }: Failure): Answer {
  return {
    status,
    fields: [
      ...(challenge === undefined ? NO_FIELDS : ['WWW-Authenticate', challenge]),
      ...(retryAfter === undefined ? NO_FIELDS : ['Retry-After', `${retryAfter}`]),
    ],
    body: JSON.stringify({ error, message }),
  };
}

/** Sends an answer in one piece, unless the headers of another have been sent. */
export function sendAnswer(response: ServerResponse, answer: Answer, requestId: string): void {
  if (response.headersSent) return;
  atEndOfTurn(() => {
    response.writeHead(answer.status, fieldsOf(answer, requestId));
    response.end(answer.body);
  });
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
  return [
    'Content-Type',
    'application/json; charset=utf-8',
    'Cache-Control',
    'no-store',
    'Content-Length',
    `${Buffer.byteLength(body)}`,
    'X-Request-Id',
    requestId,
    ...fields,
  ];
}
