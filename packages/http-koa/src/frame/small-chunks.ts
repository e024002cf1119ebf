/** A body may have this many chunks, and one more for each `BYTES_PER_CHUNK` bytes. */
const MAX_CHUNKS = 16_384;
const BYTES_PER_CHUNK = 16;

const GATHERED_BYTES = 4096;

/**
 * Joins the small chunks of a body, at the latest at the end of a turn of the event loop. The streams of Node.js use
 * 300 bytes for each chunk, however small it is.
 */
export class SmallChunks {
  readonly #pass: (bytes: Buffer) => void;
  readonly #gathered = Buffer.allocUnsafe(GATHERED_BYTES);
  #length = 0;
  #chunks = 0;
  #bytes = 0;

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass;
  }

  /** Whether there are so many small chunks that they cost much more to parse than to send. */
  get areTooMany(): boolean {
    return this.#chunks > MAX_CHUNKS + this.#bytes / BYTES_PER_CHUNK;
  }

  add(chunk: Buffer): void {
    this.#chunks += 1;
    this.#bytes += chunk.length;
    if (this.#length + chunk.length > GATHERED_BYTES) this.flush();
    if (this.#length === 0) setImmediate(() => this.flush());
    this.#gathered.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  /** Passes on the joined chunks. */
  flush(): void {
    if (this.#length === 0) return;
    const bytes = Buffer.from(this.#gathered.subarray(0, this.#length));
    this.#length = 0;
    this.#pass(bytes);
  }
}
