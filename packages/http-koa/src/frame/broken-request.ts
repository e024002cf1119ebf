import type { IncomingMessage } from 'node:http';
import { type FailureCode, HttpError } from './failures.js';

const broken = new WeakMap<IncomingMessage, FailureCode>();

/** Notes that the rest of a request will never arrive in order, and stops whoever is reading its body. */
export function breakRequest(request: IncomingMessage, code: FailureCode): void {
  broken.set(request, code);
  if (request.listenerCount('error') > 0) request.emit('error', new HttpError(code));
}

/** Refuses a request whose rest was found broken before anybody read it. */
export function refuseBroken(request: IncomingMessage): void {
  const code = broken.get(request);
  if (code !== undefined) throw new HttpError(code);
}
