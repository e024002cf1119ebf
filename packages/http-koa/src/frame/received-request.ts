import { IncomingMessage } from 'node:http';
import { HttpError } from './failures.js';
import { SmallChunks } from './small-chunks.js';

/** Smaller chunks, except the first of a body, are gathered; in bytes. */
const SMALL_CHUNK = 256;

/**
 * A request that a server of {@link createServer} receives; it also has the state of its arrival. On any other
 * server, requests are plain `IncomingMessage`s, without this state.
 */
export class ReceivedRequest extends IncomingMessage {
  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  awaitsContinue = false;
  #failure: HttpError | undefined;
  #interrupt: ((failure: HttpError) => void) | undefined;
  #hasBegun = false;
  #smallChunks: SmallChunks | undefined;

  /** Why the rest of the request cannot be received; `undefined` when it can. */
  get failure(): HttpError | undefined {
    return this.#failure;
  }

  /** Ends the arrival of the request, because the rest is late, invalid or too large. The first failure counts. */
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

  /** Node.js calls this with each chunk of the body, and with `null` after the last. `false` pauses the connection. */
  override push(chunk: Buffer | null): boolean {
    if (this.#failure !== undefined && chunk !== null) return false;
    if (this.#hasBegun && chunk !== null && chunk.length < SMALL_CHUNK) return this.#gather(chunk);
    this.#hasBegun = true;
    this.#smallChunks?.flush();
    return super.push(chunk);
  }

  #gather(chunk: Buffer): boolean {
    this.#smallChunks ??= new SmallChunks((bytes) => super.push(bytes));
    this.#smallChunks.add(chunk);
    if (!this.#smallChunks.areTooMany) return this.readableLength < this.readableHighWaterMark;
    this.fail(new HttpError('MALFORMED_REQUEST', 'the body is sent in too many small chunks'));
    return false;
  }
}

/** Throws the failure of a request whose rest cannot be received. */
export function refuseFailed(request: IncomingMessage): void {
  if (request instanceof ReceivedRequest && request.failure) throw request.failure;
}
