import { STATUS_CODES } from 'node:http';
import type { Failure } from './failures.js';

/** A failure as it goes over the wire. */
export interface FailureAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The one form of every answer that is not a 2xx. Source: specification, "Error". */
export function failureAnswer(failure: Failure): FailureAnswer {
  const body = JSON.stringify({ error: failure.error, message: failure.message });
  const headers: Record<string, string> = {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Length': `${Buffer.byteLength(body)}`,
  };
  if (failure.challenge !== undefined) headers['WWW-Authenticate'] = failure.challenge;
  if (failure.retryAfter !== undefined) headers['Retry-After'] = `${failure.retryAfter}`;
  return { status: failure.status, headers, body };
}

/** The same answer as bytes, for a request of which no `ServerResponse` exists. */
export function rawFailureAnswer(failure: Failure, requestId: string): string {
  const { status, headers, body } = failureAnswer(failure);
  const fields = {
    ...headers,
    'X-Request-Id': requestId,
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
