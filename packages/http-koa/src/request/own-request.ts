import { IncomingMessage } from 'node:http';
import { HttpError } from './failures.js';

/** A stream uses about 500 bytes of memory per chunk, even for a chunk of one byte, so smaller chunks are joined. */
const SMALL_CHUNK = 256;
const JOINED_BYTES = 1024;

/** A request to a server of `createServer`. */
export class OwnRequest extends IncomingMessage {
  /** Whether the reader of the body waits for its end: then small chunks can wait to be joined. */
  isReadWhole = false;
  #joined: Buffer | undefined;
  #joinedLength = 0;

  /** Joins small chunks that can wait. Node.js calls this with each chunk of the body, and with `null` after the last,
   * and stops reading when it returns false. */
  override push(chunk: Buffer | null): boolean {
    const canWait = this.isReadWhole || this.readableLength > 0;
    if (canWait && chunk !== null && chunk.length < SMALL_CHUNK) return this.#join(chunk);
    this.#pushJoined();
    return super.push(chunk);
  }

  override _read(size: number): void {
    this.#pushJoined();
    super._read(size);
  }

  /** If a request fails while it is arriving, it keeps its socket, so that the response can report the failure. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (error instanceof HttpError) callback(this.listenerCount('error') > 0 ? error : null);
    else super._destroy(error, callback);
  }

  #join(chunk: Buffer): boolean {
    this.#joined ??= Buffer.alloc(JOINED_BYTES);
    this.#joinedLength += chunk.copy(this.#joined, this.#joinedLength);
    if (this.#joinedLength > JOINED_BYTES - SMALL_CHUNK) this.#pushJoined();
    return this.isReadWhole && this.readableLength === 0;
  }

  #pushJoined(): void {
    if (this.#joined === undefined) return;
    const joined = this.#joined.subarray(0, this.#joinedLength);
    this.#joined = undefined;
    this.#joinedLength = 0;
    super.push(joined);
  }
}
