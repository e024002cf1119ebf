/** Holds the beginning of a line whose end has not been read yet, up to a limit, in memory of its size. */
export class LineBuffer {
  readonly #limit: number;
  #memory = Buffer.alloc(0);
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether nothing has been held since the last line ended. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** What exceeds the limit is counted, but not kept. */
  add(bytes: Buffer): void {
    const size = this.#size + bytes.length;
    if (size <= this.#limit) {
      this.#reserve(size);
      bytes.copy(this.#memory, this.#size);
    }
    this.#size = size;
  }

  /** The line that ends with `bytes`; `undefined` when it exceeds the limit. */
  end(bytes: Buffer): Buffer | undefined {
    if (this.isEmpty) return bytes.length <= this.#limit ? bytes : undefined;
    this.add(bytes);
    const size = this.#size;
    this.#size = 0;
    return size <= this.#limit ? Buffer.from(this.#memory.subarray(0, size)) : undefined;
  }

  /** Doubles, so that a line that arrives byte by byte is not copied for each of them. */
  #reserve(size: number): void {
    if (size <= this.#memory.length) return;
    const memory = Buffer.alloc(Math.min(this.#limit, Math.max(size, 2 * this.#memory.length)));
    this.#memory.copy(memory, 0, 0, this.#size);
    this.#memory = memory;
  }
}
