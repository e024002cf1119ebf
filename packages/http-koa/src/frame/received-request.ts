import { IncomingMessage } from 'node:http';
import type { HttpError } from './failures.js';

/** Smaller chunks, except the first of a body, are joined; in bytes. */
const TINY_CHUNK = 256;

/** The size of the buffer in which tiny chunks are joined. */
const JOINED_BYTES = 4096;

/** Counts the requests of one connection that have arrived completely. */
export interface ArrivalCounter {
  /**
   * Their bytes in the usual spelling: `Name: value`, and chunks without extensions. It is never too large when clients
   * write a space after each colon.
   */
  bytes: number;
}

/**
 * A request that a server of {@link createServer} receives; it also has the state of its arrival. On any other
 * server, requests are plain `IncomingMessage`s, without this state.
 */
export class ReceivedRequest extends IncomingMessage {
  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  awaitsContinue = false;
  /**
   * Counts this request when it has arrived completely. With a function for each request instead, garbage collection takes
   * up to a third of the CPU time of a create.
   */
  counter: ArrivalCounter | undefined;
  /** Called when the request has been counted. */
  onComplete: (() => void) | undefined;
  #failure: HttpError | undefined;
  #interrupt: ((failure: HttpError) => void) | undefined;
  #bodyBytes = 0;
  /** The bytes of the latest chunk that have arrived, and the bytes that surround earlier ones. */
  #chunkBytes = 0;
  #framingBytes = 0;
  #segmentEnd = 0;
  #joined: Buffer | undefined;
  #joinedLength = 0;

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
    if (chunk === null) {
      if (this.counter !== undefined) this.counter.bytes += this.#bytes();
      this.onComplete?.();
    } else {
      if (this.#failure !== undefined) return false;
      const isFirst = this.#bodyBytes === 0;
      this.#count(chunk);
      if (!isFirst && chunk.length < TINY_CHUNK) return this.#join(chunk);
    }
    this.#passJoined();
    return super.push(chunk);
  }

  #bytes(): number {
    const isChunked = this.headers['transfer-encoding'] !== undefined;
    const framing = isChunked ? this.#framingBytes + framingOf(this.#chunkBytes) + framingOf(0) : 0;
    return headSize(this) + this.#bodyBytes + framing;
  }

  /** Of a chunk that arrives in several segments, Node.js passes on several parts. */
  #count({ length }: Buffer): void {
    this.#bodyBytes += length;
    if (this.headers['transfer-encoding'] === undefined) return;
    const { bytesRead } = this.socket;
    const isCertainlyAnother = bytesRead === this.#segmentEnd;
    if (isCertainlyAnother) {
      this.#framingBytes += framingOf(this.#chunkBytes);
      this.#chunkBytes = 0;
    }
    this.#chunkBytes += length;
    this.#segmentEnd = bytesRead;
  }

  /** Joins tiny chunks until there are enough of them: a stream uses 500 bytes of memory for each, however small. */
  #join(chunk: Buffer): boolean {
    this.#joined ??= Buffer.allocUnsafe(JOINED_BYTES);
    this.#joinedLength += chunk.copy(this.#joined, this.#joinedLength);
    if (this.#joinedLength > JOINED_BYTES - TINY_CHUNK) this.#passJoined();
    return this.readableLength < this.readableHighWaterMark;
  }

  #passJoined(): void {
    if (this.#joined === undefined) return;
    super.push(this.#joined.subarray(0, this.#joinedLength));
    this.#joined = undefined;
    this.#joinedLength = 0;
  }
}

/** Throws the failure of a request whose rest cannot be received. */
export function refuseFailed(request: IncomingMessage): void {
  if (request instanceof ReceivedRequest && request.failure) throw request.failure;
}

/** Returns the number of bytes around a chunk of this size (RFC 9112 section 7.1). */
function framingOf(chunkSize: number): number {
  return `${chunkSize.toString(16)}\r\n\r\n`.length;
}

/** Returns the size of a request line and headers in bytes, with one space after each colon, as is usual. */
export function headSize({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  let bytes = `${method} ${url} HTTP/1.1\r\n\r\n`.length;
  for (const part of rawHeaders) bytes += part.length + 2;
  return bytes;
}
