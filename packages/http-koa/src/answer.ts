import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Plant } from '@plant-store/domain';
import type { Failure } from './failures.js';

/** An answer with a JSON body, before it goes over the wire. */
export interface Answer {
  readonly status: number;
  /** Beside those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const NO_HEADERS = {};

/** A plant that was stored. Source: specification, "Create a plant". */
export function plantAnswer(plant: Plant): Answer {
  return { status: 200, headers: NO_HEADERS, body: JSON.stringify(plant) };
}

/** The one form of every answer that is not a 2xx. Source: specification, "Error". */
export function failureAnswer({ status, error, message, challenge, retryAfter }: Failure): Answer {
  return {
    status,
    headers: {
      ...(challenge === undefined ? {} : { 'WWW-Authenticate': challenge }),
      ...(retryAfter === undefined ? {} : { 'Retry-After': `${retryAfter}` }),
    },
    body: JSON.stringify({ error, message }),
  };
}

/** Sends an answer at once and in one piece, unless the headers of another have been sent. */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  more: Readonly<Record<string, string>>,
): void {
  if (response.headersSent) return;
  response.writeHead(status, { ...common(body), ...more, ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** An answer as bytes, for a request of which no `ServerResponse` exists. It is the last of its connection. */
export function rawAnswer({ status, headers, body }: Answer, requestId: string): string {
  const fields = Object.entries({
    ...common(body),
    ...headers,
    'X-Request-Id': requestId,
    Date: new Date().toUTCString(),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`;
}

function common(body: string): Record<string, string> {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Length': `${Buffer.byteLength(body)}`,
  };
}
