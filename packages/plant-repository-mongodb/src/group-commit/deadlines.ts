/** The longest that a timer of Node takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One timer for any number of deadlines: set to the earliest, however many there are. */
export class Deadlines {
  readonly #expire: (now: number) => number;
  #earliest = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param expire Called when the earliest deadline has passed. Deals with every deadline up to
   * `now` and returns the earliest of the others, infinity when there is none.
   */
  constructor(expire: (now: number) => number) {
    this.#expire = expire;
  }

  /** Sees to it that `deadline`, in the milliseconds of `performance.now()`, is not missed. */
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
