import { HttpError } from './failures.js';

/** Limits how many operations are carried out at once. */
export class InFlight {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Rejects with `OVERLOADED`, before any of the work is done, when `max` others are under way. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#max) throw new HttpError('OVERLOADED');
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
    }
  }
}
