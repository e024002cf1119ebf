import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fieldValues } from './header-fields.js';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** Names requests: a random prefix, and a number. Each instance has a prefix of its own. */
export class RequestIds {
  readonly #prefix = randomBytes(9).toString('base64url');
  #count = 0;

  /** The id that the client gave its request, if there is one field with an accepted one; otherwise a new one. */
  of(request: IncomingMessage): string {
    const [given, another] = fieldValues(request, 'x-request-id');
    const isAccepted = given !== undefined && another === undefined && ACCEPTED.test(given);
    return isAccepted ? given : this.next();
  }

  /** A new id. */
  next(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }
}
