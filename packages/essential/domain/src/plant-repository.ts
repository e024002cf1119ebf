import type { NewPlant } from './plant.js';

/** Another plant with this id is durably stored. That plant is unchanged, and this call stored nothing. */
export class PlantIdTakenError extends Error {
  override readonly name = 'PlantIdTakenError';
  readonly code = 'PLANT_ID_TAKEN';
}

/** The database is unreachable, refuses access, or accepts no more plants now. The call stores nothing, now or later. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError';
  readonly code = 'STORE_UNAVAILABLE';
}

/** The time limit passed before the outcome was known: the plant may already be stored, or may be stored later. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
  readonly code = 'OUTCOME_UNKNOWN';
}

/**
 * Port: stores plants. An id identifies one plant permanently.
 *
 * # Rules for implementers
 *
 * - Preserve names and tags exactly, including empty strings and U+0000, and keep an absent tag absent. Lone surrogates
 *   cannot occur, because `newPlant` rejects them.
 * - Recover without a restart: once the database is usable again, even if credentials or permissions had to be corrected,
 *   the same repository is too. However often the database fails, the number of connections stays the same.
 * - Errors are logged with their causes. No property or cause may contain credentials or a plant's name or tag: drop a
 *   cause that might.
 */
export interface PlantRepository {
  /**
   * Stores a new plant. Once this resolves, the plant is durable: it survives even if the database is killed immediately
   * afterwards. Otherwise it rejects with {@link PlantIdTakenError}, {@link StoreUnavailableError} or
   * {@link OutcomeUnknownError}, which say what is true then; any other error is a bug.
   *
   * # Rules for implementers
   *
   * - Copy the plant before you return the promise: a caller that spread it may change it.
   * - Taken: reject only once the other plant is durable. Visible does not mean durable: when you find a plant with the
   *   id, from another call or an earlier attempt of this one, make it durable before you settle.
   * - Unavailable: reject only when nothing was sent, or what was sent is known to be refused or undone. A write without
   *   a reply stays unknown, even if a later attempt is refused.
   * - If the database is configured in a way that can lose acknowledged writes, ask it to make this one durable. If it
   *   cannot, for example because an administrator turned off flushing, `add` and `ready` reject as unavailable, and the
   *   message names the setting. An in-memory store, for development and tests, keeps plants as long as its process lives.
   * - Of several concurrent calls with the same id, at most one resolves, even across repositories on the same database.
   *   A call never changes the outcome of another.
   * - You decide whether to retry. If you do, and an earlier attempt of the same call wrote the plant, resolve. Recognise
   *   it by something unique to the call, because another call may write the same content.
   * - Support at least 100 concurrent calls. A call that finds every connection busy waits for one. If you limit the
   *   waiting calls, reject any further call immediately, as unavailable.
   *
   * @param timeLimitMs Milliseconds within which the call settles; may be fractional. A call that is unfinished by then
   *   rejects as unavailable or unknown, whichever is true. With 0 or less, it rejects immediately as unavailable. May be
   *   `Infinity`: a store may shorten any limit to 24 days, the longest timer of Node.js.
   */
  add(plant: NewPlant, timeLimitMs: number): Promise<void>;

  /**
   * Resolves if the database accepts plants now. Otherwise rejects with {@link StoreUnavailableError}, whose message is
   * written for an operator. Settles within 2 seconds, whatever the database does, and writes nothing.
   */
  ready(): Promise<void>;

  /**
   * Waits for calls in progress to settle, each within its time limit, then releases all resources. An `add` that has
   * sent nothing may reject as unavailable immediately. Settles within 3 seconds after the last call, whatever the database
   * does. Idempotent. After this, `add` and `ready` reject as unavailable.
   */
  close(): Promise<void>;
}
