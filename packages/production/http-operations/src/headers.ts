import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A request id that a client may choose. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the request id that the client has sent, if there is exactly one and it is valid; otherwise a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

const METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '));

/** Returns a method, or `_OTHER`: clients must not add label values (OpenTelemetry, semantic conventions for HTTP metrics). */
export function countedMethod(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : '_OTHER';
}
