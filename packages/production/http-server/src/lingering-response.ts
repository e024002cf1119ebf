import { ServerResponse } from 'node:http';
import type { ArrivingRequest } from './arriving-request.js';
import { hasUnreadBody } from './http-rules.js';

/** How long the server waits for the rest of a request after its response, and how many bytes of it are read. */
const LINGER_MS = 500;
const LINGER_BYTES = 65_536;

/**
 * A response that ends only after its request has arrived, or after a while: if the server closed while a client still sends,
 * a reset could overtake the response (RFC 9112 section 9.6).
 */
export class LingeringResponse extends ServerResponse<ArrivingRequest> {
  #closes = false;

  constructor(request: ArrivingRequest) {
    super(request);
    // Express replaces the prototype of each response.
    const { closeConnection, writeHead, end } = this;
    Object.assign(this, { closeConnection, writeHead, end });
  }

  /**
   * Closes the connection after this response, which says so, and before the requests that wait for it. Has no effect once
   * its headers are sent: `Connection.closeIfIdle` closes these connections when the server stops.
   */
  closeConnection(): void {
    this.#closes = true;
  }

  /**
   * Announces that the connection closes afterwards, if it must or if the body is unread. Undocumented: Node.js calls this for
   * responses that set only `statusCode`, too. Without that, a client whose upload is refused does not know of the close.
   */
  override writeHead(...args: [number]): this {
    if (this.#closes || hasUnreadBody(this.req)) this.setHeader('Connection', 'close');
    return super.writeHead(...args);
  }

  override end(...args: never[]): this {
    if (this.req.complete || this.destroyed) return super.end(...args);
    this.#endLater(args);
    return this;
  }

  /** Sends the response immediately, so that the client needs no `100 Continue`: only the end waits. */
  #endLater(args: never[]): void {
    // As in Node.js, the first argument may be the callback instead of a body.
    const [body] = args as unknown[];
    const hasBody = Boolean(body) && typeof body !== 'function';
    if (hasBody) this.write(...(args as unknown as [string]));
    else this.flushHeaders();
    this.#afterRequest(() => (hasBody ? super.end() : super.end(...args)));
  }

  /** Discards the rest of the request, and calls `end` after its last byte, or when the time is up. */
  #afterRequest(end: () => void): void {
    const { req } = this;
    const { socket } = req;
    const enough = socket.bytesRead + LINGER_BYTES;
    req.on('data', () => {
      if (socket.bytesRead >= enough) req.pause();
    });
    const endOnce = () => {
      clearTimeout(limit);
      req.off('end', endOnce);
      end();
    };
    const limit = setTimeout(endOnce, LINGER_MS).unref();
    req.once('end', endOnce).resume();
  }
}
