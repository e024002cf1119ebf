/** The longest delay of a timer of Node.js. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One timer for any number of deadlines, set to the earliest. */
export class Deadlines {
  readonly #expire: (now: number) => number;
  #earliest = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param expire Called when the earliest deadline has passed. Must handle every deadline up to `now`, and return
   * the earliest of the others, `Infinity` when there is none.
   */
  constructor(expire: (now: number) => number) {
    this.#expire = expire;
  }

  /** Adds a deadline, in milliseconds of `performance.now()`. */
  watch(deadline: number): void {
    if (deadline >= this.#earliest) return;
    this.#earliest = deadline;
    clearTimeout(this.#timer);
    const wait = Math.ceil(deadline - performance.now());
    this.#timer = setTimeout(() => this.#pass(), Math.min(Math.max(wait, 1), MAX_TIMER_MS));
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #pass(): void {
    this.#earliest = Number.POSITIVE_INFINITY;
    this.watch(this.#expire(performance.now()));
  }
}
