import { type ServerResponse, STATUS_CODES } from 'node:http';
import { RequestError } from './request-error.js';

/** The response to a request that is refused before its handler. The server adds `Content-Length`, `Date` and `Connection`. */
export interface Refusal {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Refuses with the message of the error as text. */
export function plainRefusal(cause: unknown): Refusal {
  const known = cause instanceof RequestError;
  const { status, message } = known ? cause : { status: 500, message: 'internal error' };
  return { status, headers: ['Content-Type', 'text/plain; charset=utf-8'], body: `${message}\n` };
}

/** Sends a refusal. A response that has begun is broken off instead, and one that has ended stays. */
export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  if (!response.headersSent)
    response.writeHead(refusal.status, withLength(refusal)).end(refusal.body);
  else if (!response.writableEnded) response.destroy();
}

/** Returns the text of the last response of a connection, to a request for which Node.js has created no `ServerResponse`. */
export function textOf(refusal: Refusal): string {
  const { status, body } = refusal;
  const date = new Date().toUTCString();
  const headers = [...withLength(refusal), 'Date', date, 'Connection', 'close']
    .map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`))
    .join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n${body}`;
}

function withLength({ headers, body }: Refusal): string[] {
  return [...headers, 'Content-Length', `${Buffer.byteLength(body)}`];
}
