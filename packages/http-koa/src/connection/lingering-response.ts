import { ServerResponse } from 'node:http';
import type { OwnRequest } from '../request/own-request.js';

/** How long what a client still sends is read after its response. */
export const LINGER_MS = 500;

/** A response that ends after its request, because a reset could overtake it (RFC 9112 section 9.6). */
export class LingeringResponse extends ServerResponse<OwnRequest> {
  override end(...args: never[]): this {
    if (this.req.complete || this.destroyed) return super.end(...args);
    // As in Node.js, there may be no body, but a callback.
    const [body] = args as unknown[];
    const hasBody = Boolean(body) && typeof body !== 'function';
    if (hasBody) this.write(...(args as unknown as [string]));
    const end = () => (hasBody ? super.end() : super.end(...args));
    this.req.resume().once('end', end);
    setTimeout(end, LINGER_MS).unref();
    return this;
  }
}
