import { ServerResponse } from 'node:http';
import type { OwnRequest } from '../request/own-request.js';

/** How long what a client still sends is read after its response. */
export const LINGER_MS = 500;

/** A response that ends after its request, because a reset could overtake it (RFC 9112 section 9.6). */
export class LingeringResponse extends ServerResponse<OwnRequest> {
  override end(...args: never[]): this {
    if (this.req.complete || this.destroyed) return super.end(...args);
    const [body] = args as unknown as [string?];
    if (body !== undefined) this.write(...(args as unknown as [string]));
    this.req.resume().once('end', () => super.end());
    setTimeout(() => super.end(), LINGER_MS).unref();
    return this;
  }
}
