import { type NewPlant, StoreUnavailableError } from '@plant-store/domain';
import { Batch, type BatchOptions, PendingPlant, sizeOf } from './batch.js';
import { NoResponseError } from './clock.js';
import { InsertQueue } from './insert-queue.js';

/** For how long plants are still sent after `close`: enough for a full queue, unless the database is slow or unreachable. */
const SENT_AFTER_CLOSE_MS = 1_000;

/** The time between two attempts to get a place. */
const PLACE_INTERVAL_MS = 50;

export const CLOSED = 'the store is closed';
export const NO_TIME_LEFT = 'there is no time left';

export type GroupCommitOptions = BatchOptions;

/**
 * Stores many plants with one insert, and determines the outcome of each.
 *
 *     add ─> queue ─> batch ─> attempt ─> each plant is stored, taken or refused ─> settled
 *                      ^          │
 *                      └── pause ─┴─ some are not: the next attempt
 *
 *     a plant at its deadline, from anywhere ─> unavailable, or unknown if an insert may have written it
 *
 * An {@link InsertQueue} groups plants into batches, and decides when each is sent. A {@link Batch} sends its plants, knows
 * what may be written, and settles them.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #queue: InsertQueue;
  /** Those that have left the queue. Replaced at each change: V8 keeps what a long-lived set once held. */
  #batches: readonly Batch[] = [];
  /** How many calls of `add` have not settled. */
  #pending = 0;
  #isClosed = false;
  /** False from {@link SENT_AFTER_CLOSE_MS} after `close`: then only what may be written is sent again. */
  #isSending = true;
  #drained: () => void = () => undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    const { database, clock, availability } = options;
    const start = (plants: readonly PendingPlant[]) => {
      const batch = new Batch(plants, options);
      void this.#store(batch);
      return batch;
    };
    this.#queue = new InsertQueue({ database, clock, start });
    availability.onQuickCheck((beganAt) => {
      for (const it of this.#batches) it.loseReply(beganAt);
    });
  }

  /** Like `PlantRepository.add`, but rejects with a plain `Error` when the database refuses the plant. */
  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { tracer, clock } = this.#options;
      const size = sizeOf(plant);
      this.#expectAcceptable(size, timeLimitMs);
      const settled = (error?: Error) => {
        stopTimer();
        this.#pending -= 1;
        if (this.#pending === 0) this.#drained();
        if (error) reject(error);
        else resolve();
      };
      const pending = new PendingPlant({
        // A caller may change its object later.
        plant: { ...plant },
        size,
        deadline: clock.now() + timeLimitMs,
        caller: tracer?.caller(),
        settled,
      });
      // After the event loop stalls, timers fire first; `setImmediate` lets replies that have already arrived be read.
      const stopTimer = clock.after(timeLimitMs, () => setImmediate(() => this.#expire(pending)));
      this.#pending += 1;
      this.#queue.push(pending);
    });
  }

  /**
   * Accepts no more plants, and resolves when every plant is settled. After a second, gives up each plant that no insert
   * can have written. Must be called only once.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const stopTimer = this.#options.clock.after(SENT_AFTER_CLOSE_MS, () => this.#stopSending());
    await new Promise<void>((drained) => {
      this.#drained = drained;
      if (this.#pending === 0) drained();
    });
    stopTimer();
    for (const it of this.#batches) it.stopTimer();
    this.#queue.empty();
  }

  #expectAcceptable(size: number, timeLimitMs: number): void {
    if (this.#isClosed) throw new StoreUnavailableError(CLOSED);
    if (timeLimitMs <= 0) throw new StoreUnavailableError(NO_TIME_LEFT);
    const { maxPlantBytes = Number.POSITIVE_INFINITY } = this.#options.database;
    if (size > maxPlantBytes) {
      throw new RangeError(`a plant must not take more than ${maxPlantBytes} bytes`);
    }
  }

  /** The life of a batch: it is sent until each of its plants has an outcome. */
  async #store(batch: Batch): Promise<void> {
    this.#batches = [...this.#batches, batch];
    for (;;) {
      await batch.attempt();
      this.#queue.leave(batch);
      if (!this.#isSending) batch.giveUpQueued(CLOSED);
      if (batch.isOver) break;
      await this.#wait(batch.pauseMs);
      while (!this.#queue.sendsAgain(batch)) await this.#wait(PLACE_INTERVAL_MS);
    }
    batch.endInsert();
    this.#batches = this.#batches.filter((it) => it !== batch);
  }

  #expire(plant: PendingPlant): void {
    const { readyError } = this.#options.availability;
    plant.giveUp(plant.cause ?? readyError ?? new NoResponseError());
    // The places of batches without callers are free.
    this.#queue.start();
  }

  #stopSending(): void {
    this.#isSending = false;
    for (const plant of this.#queue.empty()) plant.giveUp(undefined, CLOSED);
    for (const batch of this.#batches) batch.giveUpQueued(CLOSED);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(ms, resolve));
  }
}
