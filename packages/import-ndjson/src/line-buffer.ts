/** Buffers the beginning of a line until its end is read. Uses no more memory than the limit, in bytes. */
export class LineBuffer {
  readonly #memory: Buffer;
  #size = 0;

  constructor(limit: number) {
    this.#memory = Buffer.alloc(limit);
  }

  /** Whether it holds no bytes of a line. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Appends bytes. What exceeds the limit is counted but not stored. */
  add(bytes: Buffer): void {
    bytes.copy(this.#memory, this.#size);
    this.#size += bytes.length;
  }

  /** Ends the line with `bytes` and returns it; `undefined` when it was begun and exceeds the limit. */
  end(bytes: Buffer): Buffer | undefined {
    if (this.isEmpty) return bytes;
    this.add(bytes);
    const size = this.#size;
    this.#size = 0;
    return size <= this.#memory.length ? Buffer.from(this.#memory.subarray(0, size)) : undefined;
  }
}
