import type { NewPlant } from './plant.js';

/** Another plant with this id is durably stored. That plant is unchanged, and this call stored nothing. */
export class PlantIdTakenError extends Error {
  override readonly name = 'PlantIdTakenError';
  readonly code = 'PLANT_ID_TAKEN';
}

/** The storage is unreachable, refuses access, or accepts no more plants now. The call stores nothing, now or later. */
export class StorageUnavailableError extends Error {
  override readonly name: string = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/**
 * The storage accepts plants but does not acknowledge them in time. Only `ready` rejects with this error; `add` waits
 * instead.
 */
export class StorageSlowError extends StorageUnavailableError {
  override readonly name = 'StorageSlowError';
}

/** The plant may be stored now, or may be stored later: the time limit passed before the outcome was known. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
  readonly code = 'OUTCOME_UNKNOWN';
}

/**
 * Port: stores plants. An id identifies one plant permanently.
 *
 * Names and tags are preserved exactly, including empty strings and U+0000; they are neither trimmed nor normalised.
 * Lone surrogates cannot occur, because `newPlant` rejects them. An absent tag stays absent.
 *
 * Recovery needs no restart: once the storage is usable again, the same repository works again. That includes
 * credentials and permissions that were corrected in the storage. However often the storage fails, the number of
 * connections stays the same: one that no call uses any more is used again, or closed.
 *
 * Errors are logged with their causes. No property or cause of an error may contain credentials or a plant's name or
 * tag. Drop a cause that might.
 */
export interface PlantRepository {
  /**
   * Stores a new plant durably: once this resolves, the plant survives even if the storage is killed immediately
   * afterwards. Visible does not mean durable: if a duplicate or a retry finds a plant, that plant must be made durable
   * before it is reported.
   *
   * If the storage is configured in a way that can lose acknowledged writes, the adapter asks it to keep this one. If
   * it cannot, as with flushes that an administrator turned off, `add` and `ready` reject with
   * {@link StorageUnavailableError}, whose message names the setting. An in-process storage, for trials and tests,
   * keeps plants for as long as the process lives.
   *
   * Rejects with exactly one of these; any other error is a bug.
   * - {@link PlantIdTakenError}, only once the other plant is durable and can no longer be rolled back.
   * - {@link StorageUnavailableError}, only when nothing is stored, now or later: nothing was sent, or what was sent is
   *   known to be refused or undone. Examples: refused credentials, missing permissions, an outage that began before.
   * - {@link OutcomeUnknownError} in all other cases, such as a write whose response did not come in time. A later
   *   failure does not undo an unanswered write: if access is refused after a write got no reply, the outcome is still
   *   unknown.
   *
   * Of several concurrent calls with the same id, at most one resolves, even across different repositories on the same
   * storage. A call never changes the outcome of another.
   *
   * The adapter decides whether to retry. If an attempt finds the plant that an earlier attempt of the same call wrote,
   * it resolves. It must recognise that plant by something unique to the call, because another call may write the same
   * content.
   *
   * An adapter must support at least 100 concurrent calls. A call that finds every connection busy waits for one, up to
   * its time limit. An adapter that limits the number of waiting calls rejects any further call immediately, as
   * unavailable.
   *
   * @param timeLimitMs Milliseconds within which the call settles, such as 1499.5. An attempt still unfinished by then
   *   is reported as unavailable or unknown, whichever is true. With 0 or less, the call is rejected immediately as
   *   unavailable.
   */
  add(plant: NewPlant, timeLimitMs: number): Promise<void>;

  /**
   * Resolves when the storage accepts plants now. Otherwise rejects with {@link StorageUnavailableError}, including for
   * refused credentials and missing permissions, or with {@link StorageSlowError} if it does not acknowledge plants in
   * time. The message is written for an operator. Settles within 2 seconds, whatever the storage does, and writes
   * nothing.
   */
  ready(): Promise<void>;

  /**
   * Waits for calls in progress to settle, each within its time limit, then releases all resources. Settles within 3
   * seconds after the last of them, whatever the storage does. Idempotent. After this, `add` and `ready` reject as
   * unavailable.
   */
  close(): Promise<void>;
}
