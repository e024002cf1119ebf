import { AsyncResource } from 'node:async_hooks';
import { type NewPlant, type Plant, StoreUnavailableError } from '@plant-store/domain';
import { Batch, type BatchOptions, giveUp, isPending, type PendingPlant } from './batch.js';
import { NoResponseError } from './clock.js';

/** The maximum number of bytes in one batch. A batch always holds at least one plant. */
const MAX_BYTES = 2 ** 22;

/** Size of a stored plant in bytes, excluding its strings, rounded up. */
const FIXED_BYTES = 100;

/**
 * While fewer than `EAGER` batches are in flight, the next one starts when it has `MIN_SHARE` as many plants as they have.
 * One batch at a time would leave the database idle during each round trip. Smaller batches would take more CPU time, because
 * each is a command.
 */
const EAGER = 4;
const MIN_SHARE = 1 / 2;

/** The minimum time between the starts of two batches while earlier ones get no replies. */
const START_INTERVAL_MS = 100;

/** For how long plants are still sent after `close`: enough for a full queue, unless the database is slow or unreachable. */
const SENT_AFTER_CLOSE_MS = 1_000;

export const CLOSED = 'the store is closed';
export const NO_TIME_LEFT = 'there is no time left';

/** Returns an upper bound for the size of a plant in an insert, in bytes. */
export function sizeOf({ name, tag = '' }: Plant): number {
  // Does not compile when `Plant` gets another field.
  const texts: Readonly<Record<keyof Plant, string>> = { name, tag };
  return FIXED_BYTES + Buffer.byteLength(Object.values(texts).join(''));
}

/**
 * Natural batching (group commit): plants that are added while batches are in flight form the next batch. It starts when
 * nothing is in flight, when it has enough plants compared with those in flight, or when those take long.
 *
 *     add ─> queue ─> batch ─> attempt ─> each plant is stored, taken or refused ─> settled
 *                      ^          │
 *                      └── pause ─┴─ some are not: the next attempt
 *
 *     a plant at its deadline, from anywhere ─> unavailable, or unknown if an insert may have written it
 *
 * A batch *stands aside* when it is sent again, when a later one has had its reply first, or when its callers have gone:
 * later ones no longer wait for it. As many may stand aside as are in flight. When these places are taken, a batch that is
 * to be sent again waits for one, and the others stay in flight.
 */
export class GroupCommit {
  readonly #options: BatchOptions;
  /** A batch carries plants from many callers, so a tracing agent must not attribute it to the first caller's request. */
  readonly #start = AsyncResource.bind(() => this.#startDue());
  /** These are replaced when something leaves them: V8 keeps what a long-lived set once held. */
  #queue: PendingPlant[] = [];
  #batches: readonly Batch[] = [];
  #startedAt = Number.NEGATIVE_INFINITY;
  /** When the latest of the batches started that have had a reply. */
  #repliedFrom = Number.NEGATIVE_INFINITY;
  /** How long the latest batch was in flight: a majority may lag by seconds. */
  #inFlightMs = 0;
  /** Whether batches will start at the end of the turn, with the plants that have arrived by then. */
  #isStarting = false;
  /** Stops the timer after which the next batch starts although those in flight have had no reply. */
  #stopTimer: () => void = () => undefined;
  /** How many calls of `add` have not settled. */
  #pending = 0;
  #isClosed = false;
  /** False from {@link SENT_AFTER_CLOSE_MS} after `close`: then only what may be written is sent again. */
  #isSending = true;
  #drained: () => void = () => undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /** Like `PlantRepository.add`, but rejects with a plain `Error` when the database refuses the plant. */
  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { tracer, clock } = this.#options;
      const size = sizeOf(plant);
      this.#expectAcceptable(size, timeLimitMs);
      const pending: PendingPlant = {
        // A caller may change its object later.
        plant: { ...plant },
        size,
        deadline: clock.now() + timeLimitMs,
        caller: tracer?.caller(),
        settled: (error) => {
          stopTimer();
          if (error) reject(error);
          else resolve();
          this.#pending -= 1;
          if (this.#pending === 0) this.#drained();
        },
        state: 'queued',
        cause: undefined,
      };
      // After the event loop stalls, timers fire first; `setImmediate` lets replies that have already arrived be read.
      const stopTimer = clock.after(timeLimitMs, () => setImmediate(() => this.#expire(pending)));
      this.#pending += 1;
      this.#queue.push(pending);
      this.#startSoon();
    });
  }

  /**
   * Accepts no more plants, and resolves when every plant is settled. After a second, gives up each plant that no insert
   * can have written. Must be called only once.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const stopTimer = this.#options.clock.after(SENT_AFTER_CLOSE_MS, () => this.#stopSending());
    if (this.#pending !== 0) await new Promise<void>((drained) => (this.#drained = drained));
    stopTimer();
    this.#stopTimer();
    for (const it of this.#batches) it.loseReply();
  }

  #expectAcceptable(size: number, timeLimitMs: number): void {
    if (this.#isClosed) throw new StoreUnavailableError(CLOSED);
    if (timeLimitMs <= 0) throw new StoreUnavailableError(NO_TIME_LEFT);
    const { maxPlantBytes = Number.POSITIVE_INFINITY } = this.#options.database;
    if (size > maxPlantBytes) {
      throw new RangeError(`a plant must not take more than ${maxPlantBytes} bytes`);
    }
  }

  #expire(plant: PendingPlant): void {
    const { readyError } = this.#options.availability;
    giveUp(plant, plant.cause ?? readyError ?? new NoResponseError());
    // The places of batches without callers are free.
    this.#startSoon();
  }

  #stopSending(): void {
    this.#isSending = false;
    for (const it of this.#queue) giveUp(it, undefined, CLOSED);
    for (const it of this.#batches) it.giveUpQueued(CLOSED);
  }

  /** The plants of one turn of the event loop share a batch. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(this.#start);
  }

  /** Starts the batches that are due. */
  #startDue(): void {
    this.#isStarting = false;
    const { clock } = this.#options;
    for (const it of this.#batches) if (this.#isPassed(it)) this.#standAside(it);
    this.#queue = this.#queue.filter(isPending);
    while (this.#isDue()) {
      const batch = new Batch(this.#take(), this.#options);
      this.#startedAt = batch.startedAt;
      this.#batches = [...this.#batches, batch];
      void this.#store(batch);
    }
    this.#stopTimer();
    if (this.#queue.length === 0 || !this.#hasPlace('in flight')) return;
    this.#stopTimer = clock.after(this.#nextAt - clock.now(), this.#start);
  }

  #isDue(): boolean {
    const { database, clock } = this.#options;
    const waiting = this.#queue.length;
    if (waiting === 0 || !this.#hasPlace('in flight')) return false;
    const inFlight = this.#in('in flight');
    const plants = inFlight.reduce((sum, { size }) => sum + size, 0);
    if (inFlight.length < EAGER && waiting >= plants * MIN_SHARE) return true;
    return waiting >= database.maxTogether || clock.now() >= this.#nextAt;
  }

  /**
   * When the next batch starts even if those in flight have had no reply: in a brief slowdown of the database, their number must
   * not reach the maximum.
   */
  get #nextAt(): number {
    const { maxInFlight } = this.#options.database.limits;
    return this.#startedAt + Math.max(START_INTERVAL_MS, this.#inFlightMs / maxInFlight);
  }

  #in(place: 'in flight' | 'aside'): readonly Batch[] {
    return this.#batches.filter((it) => it.place === place);
  }

  #hasPlace(place: 'in flight' | 'aside'): boolean {
    return this.#in(place).length < this.#options.database.limits.maxInFlight;
  }

  #take(): readonly PendingPlant[] {
    const { maxTogether } = this.#options.database;
    let count = 0;
    let bytes = 0;
    for (const { size } of this.#queue) {
      bytes += size;
      if (count > 0 && (count >= maxTogether || bytes > MAX_BYTES)) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** The life of a batch: it is sent until each of its plants has an outcome. */
  async #store(batch: Batch): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      await batch.attempt();
      this.#leave(batch);
      if (!this.#isSending) batch.giveUpQueued(CLOSED);
      if (batch.isOver) break;
      do await new Promise<void>((resolve) => clock.after(batch.pauseMs, resolve));
      while (!this.#standAside(batch));
    }
    this.#batches = this.#batches.filter((it) => it !== batch);
  }

  #leave(batch: Batch): void {
    if (batch.place === 'in flight') this.#inFlightMs = this.#options.clock.now() - batch.startedAt;
    batch.place = undefined;
    this.#repliedFrom = Math.max(this.#repliedFrom, batch.startedAt);
    this.#start();
  }

  /** Whether later batches should not wait for one in flight. */
  #isPassed({ place, isOver, startedAt }: Batch): boolean {
    const isLate = this.#options.clock.now() - startedAt >= START_INTERVAL_MS;
    return place === 'in flight' && (isOver || (isLate && startedAt < this.#repliedFrom));
  }

  /** Returns whether there was a place. A batch that is over needs none. */
  #standAside(batch: Batch): boolean {
    if (!this.#hasPlace('aside')) return batch.isOver;
    batch.place = 'aside';
    return true;
  }
}
