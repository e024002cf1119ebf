import type { NewPlant, PlantId } from './plant.js';

/** Selects one page of plants, in the order of their ids. */
export interface PageRequest {
  /** The page begins with the first id above this one; without it, with the smallest id. */
  readonly after?: PlantId | undefined;
  /** The most plants of the page, 1 or more. */
  readonly limit: number;
}

/** What is stored under an id is not a plant: another program wrote it. The message names the id. */
export class UnreadablePlantError extends Error {
  override readonly name = 'UnreadablePlantError';
  readonly code = 'UNREADABLE_PLANT';
}

/**
 * Port: reads the plants that a `PlantRepository` on the same storage has stored.
 *
 * It is a port of its own, because a storage that cannot be read can still be a `PlantRepository`. An adapter of both is
 * one class, whose `close` ends reading too. Errors follow the rules of `PlantRepository`.
 */
export interface PlantReader {
  /**
   * Resolves with the next plants in ascending order of their ids, each exactly as it was added. A page can
   * have fewer plants than `limit`. Only an empty page means that no plant is left.
   *
   * Between `after` and the last id of the page, the page has each plant exactly once that was stored before
   * the call, by any repository on the storage. A plant that is added during the call is in the page or not.
   * The page has only plants that are stored durably: none of them can be undone.
   *
   * Rejects with exactly one of these; any other error is a bug.
   * - `StorageUnavailableError` when the plants cannot be read within the time limit, also when the storage
   *   refuses the credentials, when permissions are missing, and after `close`.
   * - {@link UnreadablePlantError}: no plant is left out without a message.
   *
   * The adapter decides whether it tries again. A failover within the time limit costs time, not an error.
   *
   * @param timeLimitMs Milliseconds within which the call settles. With 0 or less, it is rejected at once.
   */
  read(page: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]>;
}
