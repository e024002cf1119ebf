import { ServerResponse } from 'node:http';
import type { ArrivingRequest } from './arriving-request.js';
import { hasUnreadBody } from './http-rules.js';

/** After a response, the server waits this long for the rest of its request, of which it reads this many bytes at most. */
const LINGER_MS = 500;
const LINGER_BYTES = 65_536;

/**
 * A response that ends only after its request has arrived, or after a while: if the server closed while a client still sends,
 * a reset could overtake the response (RFC 9112 section 9.6).
 */
export class LingeringResponse extends ServerResponse<ArrivingRequest> {
  /** Announces that the connection closes afterwards, unless the body was read. Node.js calls this for every response. */
  override writeHead(...args: [number]): this {
    if (hasUnreadBody(this.req)) this.shouldKeepAlive = false;
    return super.writeHead(...args);
  }

  override end(...args: never[]): this {
    if (this.req.complete || this.destroyed) return super.end(...args);
    // As in Node.js, there may be no body, but a callback.
    const [body] = args as unknown[];
    const hasBody = Boolean(body) && typeof body !== 'function';
    // The client receives the body immediately; only the end waits.
    if (hasBody) this.write(...(args as unknown as [string]));
    this.#afterRequest(() => (hasBody ? super.end() : super.end(...args)));
    return this;
  }

  /** Discards the rest of the request, and calls `end` after its last byte, or after the time. */
  #afterRequest(end: () => void): void {
    const { req } = this;
    const { socket } = req;
    const enough = socket.bytesRead + LINGER_BYTES;
    req.on('data', () => {
      if (socket.bytesRead >= enough) req.pause();
    });
    req.once('end', end).resume();
    setTimeout(end, LINGER_MS).unref();
  }
}
