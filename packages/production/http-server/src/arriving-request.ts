import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RequestError } from './request-error.js';

/** Smaller chunks are joined, because a stream keeps several objects for each, even for a single byte. */
const SMALL_CHUNK = 256;
const JOINED_BYTES = 1024;

/** A request of this server. Small chunks of its body wait for further ones, so it suits handlers that read whole bodies. */
export class ArrivingRequest extends IncomingMessage {
  /** The response that owes the client `100 Continue`. */
  #owing: ServerResponse | undefined;
  #joined: Buffer | undefined;
  #joinedLength = 0;

  constructor(socket: Socket) {
    super(socket);
    // Express replaces the prototype of each request.
    const { continueThrough, push, read, _destroy } = this;
    Object.assign(this, { continueThrough, push, read, _destroy });
  }

  /** Sends `100 Continue` once the body is read, unless the response has begun: then the client need not send it. */
  continueThrough(response: ServerResponse): void {
    this.#owing = response;
  }

  /**
   * Joins small chunks. Undocumented: Node.js's parser calls this with each chunk of the body, and with `null` after the last,
   * and stops reading when it returns false. Without it, a body in chunks of one byte takes hundreds of times its size.
   */
  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && chunk.length < SMALL_CHUNK) return this.#join(chunk);
    this.#pushJoined();
    return super.push(chunk);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in Node.js's types.
  override read(size?: number): any {
    const owing = this.#owing;
    this.#owing = undefined;
    if (owing?.headersSent === false) owing.writeContinue();
    return super.read(size);
  }

  /** If a request fails while it is arriving, it keeps its socket, so that the response can report the failure. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (error instanceof RequestError) callback(this.listenerCount('error') > 0 ? error : null);
    else super._destroy(error, callback);
  }

  #join(chunk: Buffer): boolean {
    if (this.#joined === undefined) this.#joined = chunk;
    else this.#append(this.#joined, chunk);
    this.#joinedLength += chunk.length;
    if (this.#joinedLength > JOINED_BYTES - SMALL_CHUNK) this.#pushJoined();
    return this.readableLength === 0;
  }

  /** Most bodies are one small chunk, which needs no copy. */
  #append(joined: Buffer, chunk: Buffer): void {
    const isFirst = joined.length === this.#joinedLength;
    const room = isFirst ? Buffer.alloc(JOINED_BYTES) : joined;
    if (isFirst) room.set(joined);
    // Deno's chunks are `Uint8Array`s, which have no `copy`.
    room.set(chunk, this.#joinedLength);
    this.#joined = room;
  }

  #pushJoined(): void {
    if (this.#joined === undefined) return;
    const joined = this.#joined.subarray(0, this.#joinedLength);
    this.#joined = undefined;
    this.#joinedLength = 0;
    super.push(joined);
  }
}
