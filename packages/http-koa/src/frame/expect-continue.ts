import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Notes that the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
export function holdContinue(request: IncomingMessage): void {
  waiting.add(request);
}

/** Asks a waiting client for the body, once. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}
