import type { NewPlant } from './plant.js';

/** Another plant with this id is stored for good; it is unchanged, and nothing was stored now. */
export class PlantIdTakenError extends Error {
  override readonly name = 'PlantIdTakenError';
  readonly code = 'PLANT_ID_TAKEN';
}

/** The storage cannot be reached, or takes no more now. The plant is surely not stored and will not be. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
  /**
   * Whether `add` waits for the storage to come back, up to its time limit. Otherwise `add` is refused
   * at once. Set by {@link PlantRepository.ready}; false unless given.
   */
  readonly waits: boolean;

  constructor(message: string, options: ErrorOptions & { readonly waits?: boolean } = {}) {
    super(message, options);
    this.waits = options.waits ?? false;
  }
}

/** The plant may be stored, or may still come to be. It could not be found out in time. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
  readonly code = 'OUTCOME_UNKNOWN';
}

/** Port: keeps plants. An id identifies one plant for ever. */
export interface PlantRepository {
  /**
   * Stores a new plant. Resolves when it is stored for good: whatever fails afterwards, it is kept.
   *
   * Rejects with exactly one of {@link PlantIdTakenError}, {@link StorageUnavailableError} and
   * {@link OutcomeUnknownError}; any other error is a bug. Taken is told only once the other plant
   * is stored for good. Of several concurrent calls with one id at most one resolves, whichever
   * repositories on the same storage they are made to. A call never changes the fate of another.
   *
   * @param timeLimit Milliseconds until the call is settled at the latest: an unfinished attempt
   * is then told as unavailable or unknown, whichever is true. 0 or less is answered with
   * {@link StorageUnavailableError} at once.
   */
  add(plant: NewPlant, timeLimit: number): Promise<void>;

  /**
   * Reports whether the storage can be reached at this moment. Resolves when it takes plants;
   * otherwise rejects with {@link StorageUnavailableError}, after at most 2 seconds.
   *
   * The adapter decides what becomes of an `add` now, and sets `waits` of the error. How long an
   * outage may last before the service is not ready is decided by the service, from its own deadline.
   */
  ready(): Promise<void>;

  /**
   * Lets calls under way come to their end and releases what the repository holds. Idempotent.
   * A later `add` or `ready` rejects with {@link StorageUnavailableError}.
   */
  close(): Promise<void>;
}
