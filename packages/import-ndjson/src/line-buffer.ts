/** Buffers the beginning of a line until its end is read. Uses no more memory than the limit, in bytes. */
export class LineBuffer {
  readonly #limit: number;
  #memory = Buffer.alloc(0);
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether it holds no bytes of a line. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Appends bytes. When the line exceeds the limit, they are counted but not stored. */
  add(bytes: Buffer): void {
    const size = this.#size + bytes.length;
    if (size <= this.#limit) {
      this.#reserve(size);
      bytes.copy(this.#memory, this.#size);
    }
    this.#size = size;
  }

  /** Ends the line with `bytes` and returns it; `undefined` when it exceeds the limit. */
  end(bytes: Buffer): Buffer | undefined {
    if (this.isEmpty) return bytes.length <= this.#limit ? bytes : undefined;
    this.add(bytes);
    const size = this.#size;
    this.#size = 0;
    return size <= this.#limit ? Buffer.from(this.#memory.subarray(0, size)) : undefined;
  }

  /** Doubles the memory, so that a line that arrives byte by byte is not copied for each byte. */
  #reserve(size: number): void {
    if (size <= this.#memory.length) return;
    const memory = Buffer.alloc(Math.min(this.#limit, Math.max(size, 2 * this.#memory.length)));
    this.#memory.copy(memory, 0, 0, this.#size);
    this.#memory = memory;
  }
}
