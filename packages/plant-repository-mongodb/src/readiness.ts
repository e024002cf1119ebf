import { StorageUnavailableError } from '@plant-store/domain';

/** How long an answer counts, from the moment of the question. In milliseconds. */
const COUNTS_FOR = 1_000;

/** Asks whether the storage works, at most once a second however often it is asked itself. */
export class Readiness {
  readonly #ask: () => Promise<unknown>;
  #asked = Number.NEGATIVE_INFINITY;
  #answer: Promise<void> = Promise.resolve();

  constructor(ask: () => Promise<unknown>) {
    this.#ask = ask;
  }

  check(): Promise<void> {
    const now = performance.now();
    if (now - this.#asked < COUNTS_FOR) return this.#answer;
    this.#asked = now;
    this.#answer = this.#ask().then(
      () => undefined,
      (cause: unknown) => {
        throw new StorageUnavailableError('the storage does not answer', { cause });
      },
    );
    return this.#answer;
  }
}
