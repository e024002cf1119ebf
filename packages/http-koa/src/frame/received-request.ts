import { IncomingMessage } from 'node:http';
import { HttpError } from './failures.js';

/** A body may have this many chunks, and one more for each of so many bytes. */
const MAX_CHUNKS = 16_384;
const BYTES_PER_CHUNK = 16;

/** Chunks of fewer bytes are gathered, up to so many bytes. */
const SMALL_CHUNK = 256;
const GATHERED_BYTES = 4096;

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
  #gathered: Buffer | undefined;
  #gatheredBytes = 0;

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
   * Node hands over each chunk of the body here, and `null` after the last. Small chunks after the first
   * are gathered: Node's streams take 300 bytes and 2 µs for each, however small it is.
   *
   * Returns `false` to pause the connection.
   */
  override push(chunk: Buffer | null): boolean {
    if (this.#failure !== undefined && chunk !== null) return false;
    this.#chunks += 1;
    if (chunk !== null && chunk.length < SMALL_CHUNK && this.#chunks > 1)
      return this.#gather(chunk);
    this.#flush();
    return super.push(chunk);
  }

  #gather(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#chunks > MAX_CHUNKS + this.#bytes / BYTES_PER_CHUNK) {
      this.fail(new HttpError('MALFORMED_REQUEST', 'the body is sent in too many small chunks'));
      return false;
    }
    if (this.#gatheredBytes + chunk.length > GATHERED_BYTES) this.#flush();
    if (this.#gatheredBytes === 0) setImmediate(() => this.#flush());
    this.#gathered ??= Buffer.allocUnsafe(GATHERED_BYTES);
    this.#gathered.set(chunk, this.#gatheredBytes);
    this.#gatheredBytes += chunk.length;
    return this.readableLength < this.readableHighWaterMark;
  }

  #flush(): void {
    if (this.#gatheredBytes === 0) return;
    const gathered = Buffer.from(this.#gathered?.subarray(0, this.#gatheredBytes) ?? []);
    this.#gatheredBytes = 0;
    super.push(gathered);
  }
}

/** Throws the failure of a request whose rest cannot be received. */
export function refuseFailed(request: IncomingMessage): void {
  if (request instanceof ReceivedRequest && request.failure) throw request.failure;
}
