import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fieldValues } from './header-fields.js';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The id the client gave its request, when there is one field with a harmless one; otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const [given, another] = fieldValues(request, 'x-request-id');
  const taken = given !== undefined && another === undefined && ACCEPTED.test(given);
  return taken ? given : newRequestId();
}

/** An id for a request whose headers could not be read. */
export function newRequestId(): string {
  return randomUUID();
}
