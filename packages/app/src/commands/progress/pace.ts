const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Formats a number as a whole number with separators of thousands. */
export function readable(value: number): string {
  return number.format(value);
}

/** Measures the speed of a count between two calls of {@link next}. */
export class Pace {
  #at: number;
  #count = 0;

  /** @param now The time in milliseconds, on the same clock as that of {@link next}. */
  constructor(now: number) {
    this.#at = now;
  }

  /** Returns by how much the count has grown per second since the last call. */
  next(count: number, now: number): number {
    const seconds = (now - this.#at) / 1000;
    const speed = seconds > 0 ? (count - this.#count) / seconds : 0;
    this.#at = now;
    this.#count = count;
    return speed;
  }
}
