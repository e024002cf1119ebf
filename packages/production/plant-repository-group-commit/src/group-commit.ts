import { type NewPlant, StoreUnavailableError } from '@plant-store/domain';
import { Attempt } from './attempt.js';
import type { Availability } from './availability.js';
import { Batch } from './batch.js';
import { type Clock, NoResponseError } from './clock.js';
import { InsertQueue } from './insert-queue.js';
import { PendingPlant, sizeOf } from './pending-plant.js';
import type { PlantDatabase } from './plant-database.js';
import type { BatchTracer, StoreObserver } from './telemetry.js';

/** For how long plants are still sent after `close`: enough for a full queue, unless the database is slow or unreachable. */
const SENT_AFTER_CLOSE_MS = 1_000;

export const CLOSED = 'the store is closed';
export const NO_TIME_LEFT = 'there is no time left';

export interface GroupCommitOptions {
  readonly database: PlantDatabase;
  readonly availability: Pick<Availability, keyof Availability>;
  readonly observer: StoreObserver;
  readonly tracer?: BatchTracer | undefined;
  readonly clock: Clock;
}

/**
 * Stores many plants with one insert, and determines the outcome of each.
 *
 *     add ─> queue ─> batch ─> attempt ─> each plant is stored, taken or refused ─> settled
 *                      ^          │
 *                      └──────────┴─ some are not: the next attempt, after a pause or when the reply is late
 *
 *     a plant at its deadline, from anywhere ─> unavailable, or unknown if its batch may be written
 *
 * An {@link InsertQueue} groups plants into batches, and decides when each starts. A {@link Batch} knows what may be
 * written, and settles its plants. An {@link Attempt} sends it once.
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
    const { database, clock } = options;
    const store = (plants: readonly PendingPlant[], stepAside: () => void) =>
      this.#store(new Batch(plants, options), stepAside);
    this.#queue = new InsertQueue({ database, clock, store });
  }

  /** Like `PlantRepository.add`, but rejects with a plain `Error` when the database refuses the plant. */
  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { tracer, clock } = this.#options;
      const size = sizeOf(plant);
      this.#expectAcceptable(size, timeLimitMs);
      const deadline = clock.now() + timeLimitMs;
      const settled = (error?: Error) => {
        stopTimer();
        this.#pending -= 1;
        if (this.#pending === 0) this.#drained();
        if (error) reject(error);
        else resolve();
      };
      // A caller may change its object later.
      const pending = new PendingPlant(
        { ...plant },
        { size, deadline, caller: tracer?.caller(), settled },
      );
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

  /** The life of a batch: it is sent until each of its plants has an outcome. Resolves when none of its attempts is open. */
  async #store(batch: Batch, stepAside: () => void): Promise<void> {
    this.#batches = [...this.#batches, batch];
    let attempts: Attempt[] = [];
    while (!batch.isOver) {
      const attempt = new Attempt(batch, this.#options);
      attempts.push(attempt);
      await Promise.race([...endsOf(attempts), attempt.late]);
      if (batch.isOver) break;
      // It takes longer than one attempt: later batches no longer wait for it.
      stepAside();
      // A late reply permits a second attempt, if batches that stand aside do not need its connection.
      const mayOverlap =
        attempts.length === 1 && batch.isRepeatable && this.#queue.hasSpareConnections;
      if (!mayOverlap) await Promise.race(endsOf(attempts));
      if (attempts.some(({ hasEnded }) => hasEnded)) await this.#wait(batch.pauseMs);
      attempts = attempts.filter(({ hasEnded }) => !hasEnded);
      // Without a number or a mark, as on a standalone MongoDB, no further attempt could tell what this one has written.
      if (!batch.isRepeatable) batch.giveUp();
      if (!this.#isSending) giveUpUnwritten(batch);
    }
    // Each holds a connection until then.
    for (const ended of endsOf(attempts)) await ended;
    batch.endInsert();
    this.#batches = this.#batches.filter((it) => it !== batch);
  }

  #expire(plant: PendingPlant): void {
    const { readyError } = this.#options.availability;
    plant.giveUp(plant.cause ?? readyError ?? new NoResponseError());
  }

  #stopSending(): void {
    this.#isSending = false;
    for (const plant of this.#queue.empty()) plant.giveUp(undefined, CLOSED);
    for (const batch of this.#batches) giveUpUnwritten(batch);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(ms, resolve));
  }
}

const endsOf = (attempts: readonly Attempt[]) => attempts.map(({ ended }) => ended);

function giveUpUnwritten(batch: Batch): void {
  if (!batch.isPossiblyWritten) batch.giveUp(CLOSED);
}
