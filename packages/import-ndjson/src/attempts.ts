import {
  type Client,
  type CreatePlant,
  type NewPlant,
  OutcomeUnknownError,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { BackOff } from './back-off.js';

/** What each attempt is made with. */
export interface AttemptOptions {
  readonly createPlant: CreatePlant;
  readonly client: Client;
  /** Milliseconds that one attempt may take. */
  readonly timeLimit: number;
}

/** Creates plants, each as often as it takes until it is known what became of it. */
export class Attempts {
  readonly #options: AttemptOptions;
  readonly #backOff: BackOff;
  #retrying = 0;

  /** @param backOff Ends the attempts when it is stopped: those under way are the last ones. */
  constructor(options: AttemptOptions, backOff: BackOff) {
    this.#options = options;
    this.#backOff = backOff;
  }

  /** Plants whose first attempt has failed, and that are tried again. */
  get retrying(): number {
    return this.#retrying;
  }

  /**
   * Resolves when the plant is stored. Rejects as `CreatePlant` does, but:
   * - with `StorageUnavailableError` only when it is stopped;
   * - with `OutcomeUnknownError` only when it is stopped, or when a later attempt has found the id taken: an
   *   earlier one may have taken it. After an unknown outcome nothing but "stored" is known.
   */
  create(plant: NewPlant): Promise<unknown> {
    return this.#attempt(plant).catch((error: unknown) => this.#retry(plant, error));
  }

  #attempt(plant: NewPlant): Promise<unknown> {
    const { createPlant, client, timeLimit } = this.#options;
    return createPlant.execute(client, plant, timeLimit);
  }

  async #retry(plant: NewPlant, first: unknown): Promise<void> {
    this.#retrying += 1;
    let last = first;
    let unknown = unknownOf(first);
    while (isWorthRetrying(last) && (await this.#backOff.pause())) {
      try {
        await this.#attempt(plant);
        this.#retrying -= 1;
        this.#backOff.reset();
        return;
      } catch (error) {
        last = error;
        unknown ??= unknownOf(error);
      }
    }
    this.#retrying -= 1;
    throw unknown ?? last;
  }
}

function isWorthRetrying(error: unknown): boolean {
  return error instanceof StorageUnavailableError || error instanceof OutcomeUnknownError;
}

function unknownOf(error: unknown): OutcomeUnknownError | undefined {
  return error instanceof OutcomeUnknownError ? error : undefined;
}
