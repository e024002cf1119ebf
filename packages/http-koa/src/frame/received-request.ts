import { IncomingMessage } from 'node:http';
import { HttpError } from './failures.js';

/** A chunked body may have this many chunks, and one more for each of so many bytes. */
const MAX_CHUNKS = 256;
const BYTES_PER_CHUNK = 16;

/**
 * A request as `createServer` receives it, with what is known of its arrival. In a server of another
 * kind, requests are plain `IncomingMessage`s: nothing is known of them, and nothing is done for them.
 */
export class ReceivedRequest extends IncomingMessage {
  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  awaitsContinue = false;
  #failure: HttpError | undefined;
  #interrupt: ((failure: HttpError) => void) | undefined;
  #chunks = 0;
  #bytes = 0;

  /** Why the rest of the request cannot be received, if that is so. */
  get failure(): HttpError | undefined {
    return this.#failure;
  }

  /** Ends the arrival of the request: its rest is late, invalid, or too much work. The first failure counts. */
  fail(failure: HttpError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#interrupt?.(failure);
  }

  /** Rejects with the failure as soon as there is one. */
  interruption(): Promise<never> {
    return new Promise((_, reject) => {
      this.#interrupt = reject;
    });
  }

  /**
   * Node hands over each chunk of the body here. Chunks of a few bytes cost much more to parse than
   * to send, so a body that consists of them is refused; `false` pauses the connection.
   */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null) return super.push(chunk);
    if (this.#failure !== undefined) return false;
    this.#chunks += 1;
    this.#bytes += chunk.length;
    if (this.#chunks <= MAX_CHUNKS + this.#bytes / BYTES_PER_CHUNK || !this.#isChunked()) {
      return super.push(chunk);
    }
    this.fail(new HttpError('MALFORMED_REQUEST', 'the body is sent in too many small chunks'));
    return false;
  }

  #isChunked(): boolean {
    return this.headers['transfer-encoding'] !== undefined;
  }
}

/** Throws the failure of a request whose rest cannot be received. */
export function refuseFailed(request: IncomingMessage): void {
  if (request instanceof ReceivedRequest && request.failure) throw request.failure;
}
