import type { NewPlant } from './plant.js';

/** Another plant with this id is stored durably. It is unchanged, and this call stored nothing. */
export class PlantIdTakenError extends Error {
  override readonly name = 'PlantIdTakenError';
  readonly code = 'PLANT_ID_TAKEN';
}

/** The storage is unreachable, refuses access, or accepts no more plants now. The call stores nothing, now or later. */
export class StorageUnavailableError extends Error {
  override readonly name: string = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** The storage takes plants, but does not acknowledge them in time. Only `ready` rejects with it: an `add` waits. */
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
 * Names and tags are kept exactly: every Unicode string, the empty one and those with U+0000 included,
 * neither trimmed nor normalised. `newPlant` lets no lone surrogate through. An absent tag stays absent.
 *
 * An outage ends without a restart: when the storage can be used again, the same repository uses it.
 * That includes credentials and permissions that were corrected in the storage. However often the storage fails, the
 * number of connections stays the same: one that no call uses any more is used again, or closed.
 *
 * Errors are logged with their causes. None carries credentials, or the name or the tag of a plant, in
 * any property or cause. An adapter leaves out a cause that may.
 */
export interface PlantRepository {
  /**
   * Stores a new plant durably: when this has resolved, the storage still has it when it is killed immediately
   * afterwards. Visible is not durable: a plant that a duplicate or a retry finds is made durable before it is reported.
   *
   * A storage that is configured to lose acknowledged writes is asked to keep this one. If it cannot, as with flushes
   * that an administrator turned off, `add` and `ready` reject with {@link StorageUnavailableError}, whose message
   * names the setting. A storage within the process, for trials and tests, keeps plants as long as the process.
   *
   * Rejects with exactly one of these; any other error is a bug.
   * - {@link PlantIdTakenError}, only once the other plant is stored durably: nothing can still roll it back.
   * - {@link StorageUnavailableError}, only when nothing is stored, now or later: nothing was sent, or what was sent is
   *   known to be refused or undone. Examples: refused credentials, missing permissions, an outage that began before.
   * - {@link OutcomeUnknownError} in all other cases, such as a write whose response did not come in time. Faults
   *   add up: what happens after a write without a response, such as refused access, does not undo the write.
   *
   * Of several concurrent calls with one id at most one resolves, also when they are made to different
   * repositories on the same storage. A call never changes the outcome of another.
   *
   * The adapter decides whether it tries again. An attempt that finds the plant of an earlier one of the same call
   * resolves. It recognises the plant by something that no other call writes: another one may have the same content.
   *
   * At least 100 calls may be under way at once. A call that finds every connection busy waits for one,
   * up to its time limit. An adapter that bounds how many wait rejects further ones at once, as unavailable.
   *
   * @param timeLimitMs Milliseconds within which the call settles, such as 1499.5. An attempt that is unfinished then is
   *   unavailable or unknown, whichever is true. A call with 0 or less is unavailable at once.
   */
  add(plant: NewPlant, timeLimitMs: number): Promise<void>;

  /**
   * Resolves when the storage accepts plants now. Otherwise rejects with {@link StorageUnavailableError}, also when it
   * refuses the credentials, or when permissions are missing; with {@link StorageSlowError} when it acknowledges no plant
   * in time. An operator reads the message. Settles within 2 seconds, whatever the storage does, and writes nothing.
   */
  ready(): Promise<void>;

  /**
   * Lets calls under way settle, each within its time limit, and releases what the repository holds. Settles within 3
   * seconds after the last of them, whatever the storage does. Idempotent. A later `add` or `ready` is unavailable.
   */
  close(): Promise<void>;
}
