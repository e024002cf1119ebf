import type { NewPlant, PlantId } from '@plant-store/domain';

/** Selects one page of plants, in the order of their ids. */
export interface PageRequest {
  /** The page begins with the first id above this one; without it, with the smallest id. */
  readonly after?: PlantId | undefined;
  /** The maximum number of plants on the page; at least 1. */
  readonly limit: number;
}

/** The record stored under an id is not a plant, because another program wrote it. The message names the id. */
export class UnreadablePlantError extends Error {
  override readonly name = 'UnreadablePlantError';
  readonly code = 'UNREADABLE_PLANT';
}

/**
 * Port: reads the plants that a `PlantRepository` on the same database has stored. An adapter that implements both
 * ports is one class: its `close` ends reading as well, and its errors follow the rules of `PlantRepository`.
 *
 * It is a port of its own, because a database that cannot be read can still be a `PlantRepository`.
 */
export interface PlantReader {
  /**
   * Resolves with the next plants in ascending order of their ids, each exactly as it was added. A page may hold fewer
   * plants than `limit`; only an empty page means there are no more. Rejects with exactly one of these; any other error
   * is a bug.
   * - `StoreUnavailableError`: the plants cannot be read within the time limit.
   * - {@link UnreadablePlantError}: a record is not a plant. No record is skipped silently.
   *
   * # Rules for implementers
   *
   * - Every plant that was stored before the call, through any repository on the database, and whose id is between `after`
   *   and the last id of the page, is on it exactly once. A plant added during the call may or may not be on it.
   * - A page contains only plants that are stored durably: none of them can be undone.
   * - You decide whether to retry. A failover within the time limit costs time, not an error.
   *
   * @param timeLimitMs Milliseconds within which the call settles. With 0 or less, it rejects immediately.
   */
  read(page: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]>;
}
