/** A limited number of places, such as for attempts in flight. Who finds none can wait in line. */
export class Places {
  readonly #count: number;
  #free: number;
  #line: readonly (() => void)[] = [];

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get isHalfFree(): boolean {
    return this.#free >= this.#count / 2;
  }

  /** Takes a place. Returns false if there is none. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Resolves when it has taken a place. */
  async take(): Promise<void> {
    if (this.tryTake()) return;
    await new Promise<void>((resolve) => {
      this.#line = [...this.#line, resolve];
    });
  }

  /** Frees a place, for the first in line. */
  free(): void {
    const [next, ...others] = this.#line;
    this.#line = others;
    if (next) next();
    else this.#free += 1;
  }
}
