import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fieldValues } from './header-fields.js';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** Makes request ids from a random prefix, which differs between instances, and a number. */
export class RequestIds {
  readonly #prefix = randomBytes(9).toString('base64url');
  #count = 0;

  /** Returns the id that the client sent, if it is valid and there is only one; otherwise a new one. */
  of(request: IncomingMessage): string {
    const [given, another] = fieldValues(request, 'x-request-id');
    const isAccepted = given !== undefined && another === undefined && ACCEPTED.test(given);
    return isAccepted ? given : this.next();
  }

  /** Returns a new id. */
  next(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }
}
