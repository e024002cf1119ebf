import {
  type Client,
  type CreatePlant,
  type NewPlant,
  OutcomeUnknownError,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { BackOff } from './back-off.js';

/** The use case, the client and the time limit of each attempt to create a plant. */
export interface AttemptOptions {
  readonly createPlant: CreatePlant;
  readonly client: Client;
  /** The time limit of one attempt, in milliseconds. */
  readonly timeLimitMs: number;
}

/** Creates plants, and retries each until its outcome is known. */
export class Attempts {
  readonly #options: AttemptOptions;
  readonly #backOff: BackOff;
  #retrying = 0;

  /** @param backOff Pauses between the attempts. When it is stopped, attempts under way are the last ones. */
  constructor(options: AttemptOptions, backOff: BackOff) {
    this.#options = options;
    this.#backOff = backOff;
  }

  /** How many plants are being retried after a failed first attempt. */
  get retrying(): number {
    return this.#retrying;
  }

  /**
   * Creates a plant. Resolves when it is stored. Rejects as `CreatePlant` does, but:
   * - with `StorageUnavailableError` only when it is stopped;
   * - with `OutcomeUnknownError` only when it is stopped, or when a later attempt failed in another way. An
   *   id that is taken then may have been taken by the earlier attempt.
   */
  create(plant: NewPlant): Promise<unknown> {
    return this.#attempt(plant).catch((error: unknown) => this.#retry(plant, error));
  }

  #attempt(plant: NewPlant): Promise<unknown> {
    const { createPlant, client, timeLimitMs } = this.#options;
    return createPlant.execute(client, plant, timeLimitMs);
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
