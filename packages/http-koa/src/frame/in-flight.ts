import { HttpError } from './failures.js';

/** Counts the operations that are carried out, of all routes together. */
export class InFlight {
  readonly #max: number;
  #count = 0;

  /** @param max The most at once. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Counts an operation, until {@link end}. @throws {HttpError} when there are as many as there may be. */
  begin(): void {
    if (this.#count >= this.#max) throw new HttpError('OVERLOADED');
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
  }
}
