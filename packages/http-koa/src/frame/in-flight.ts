import { HttpError } from './failures.js';

/** Limits how many operations are carried out at once. */
export class InFlight {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Begins an operation. {@link leave} ends it.
   *
   * @throws {HttpError} `OVERLOADED`, when as many as the limit are in flight.
   */
  enter(): void {
    if (this.#count >= this.#max) throw new HttpError('OVERLOADED');
    this.#count += 1;
  }

  leave(): void {
    this.#count -= 1;
  }
}
