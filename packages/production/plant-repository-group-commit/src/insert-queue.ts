import { AsyncResource } from 'node:async_hooks';
import type { Batch, PendingPlant } from './batch.js';
import type { Clock } from './clock.js';
import type { PlantDatabase } from './plant-database.js';

/** The maximum number of bytes in one batch. A batch always holds at least one plant. */
const MAX_BYTES = 2 ** 22;

/** Expired plants must not pile up while a frozen server holds the maximum number of batches. */
const FORGOTTEN_AFTER = 1_000;

/**
 * While fewer than `EAGER` batches are in flight, the next one starts when it has `MIN_SHARE` as many plants as they have.
 * One batch at a time would leave the database idle during each round trip. Smaller batches would take more CPU time, because
 * each is a command.
 */
const EAGER = 4;
const MIN_SHARE = 1 / 2;

/** The minimum time between the starts of two batches while earlier ones get no replies. */
const START_INTERVAL_MS = 100;

interface InsertQueueOptions {
  readonly database: Pick<PlantDatabase, 'limits' | 'maxTogether'>;
  /** Makes a batch of plants, which is in flight from now on. */
  readonly start: (plants: readonly PendingPlant[]) => Batch;
  readonly clock: Clock;
}

/**
 * Natural batching (group commit): plants that are queued while batches are in flight form the next batch. It starts
 * when nothing is in flight, when it has enough plants compared with those in flight, or when those take long.
 *
 * A batch *stands aside* when it is sent again, when a later one has had its reply first, or when its callers have gone:
 * later ones no longer wait for it. As many may stand aside as are in flight. When these places are taken, a batch that is
 * to be sent again waits for one, and the others stay in flight.
 */
export class InsertQueue {
  readonly #options: InsertQueueOptions;
  /** A batch carries plants from many callers, so a tracing agent must not attribute it to the first caller's request. */
  readonly #context = new AsyncResource('InsertQueue');
  /** These are replaced when something leaves them: V8 keeps what a long-lived set once held. */
  #plants: PendingPlant[] = [];
  #inFlight: readonly Batch[] = [];
  #aside: readonly Batch[] = [];
  #startedAt = Number.NEGATIVE_INFINITY;
  /** How long the latest batch was in flight: a majority may lag by seconds. */
  #inFlightMs = 0;
  /** Whether a batch will start at the end of the turn, with the plants that have arrived by then. */
  #isStarting = false;
  /** Stops the timer of `#startLater`; `undefined` while there is none. */
  #stopTimer: (() => void) | undefined;

  constructor(options: InsertQueueOptions) {
    this.#options = options;
  }

  push(plant: PendingPlant): void {
    if (this.#plants.length % FORGOTTEN_AFTER === FORGOTTEN_AFTER - 1) this.#forgetSettled();
    this.#plants.push(plant);
    this.#startSoon();
  }

  /** Returns the plants that wait, and starts no batch of them. */
  empty(): readonly PendingPlant[] {
    const plants = this.#plants;
    this.#plants = [];
    this.#endWait();
    return plants;
  }

  /** Frees the place of a batch. */
  leave(batch: Batch): void {
    const { clock } = this.#options;
    if (this.#inFlight.includes(batch)) this.#inFlightMs = clock.now() - batch.startedAt;
    this.#aside = this.#aside.filter((it) => it !== batch);
    this.#inFlight = this.#inFlight.filter((it) => it !== batch);
    const isOvertaken = ({ startedAt }: Batch) =>
      startedAt < batch.startedAt && clock.now() - startedAt >= START_INTERVAL_MS;
    for (const it of this.#inFlight.filter(isOvertaken)) this.#standAside(it);
    this.start();
  }

  /** Whether a batch may be sent again now: then it has a place aside. */
  sendsAgain(batch: Batch): boolean {
    if (!batch.isOver && !this.#hasPlaceAside) return false;
    this.#aside = [...this.#aside, batch];
    return true;
  }

  /** Starts the batches that are due. */
  start(): void {
    for (const it of this.#inFlight) if (it.isOver) this.#standAside(it);
    this.#forgetSettled();
    while (this.#isDue()) this.#startOne();
    this.#startLater();
  }

  /** The plants of one turn of the event loop share a batch. */
  #startSoon(): void {
    if (this.#isStarting) return;
    if (!this.#isDue()) {
      this.#startLater();
      return;
    }
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      this.start();
    });
  }

  /** When the batches in flight take long, as with a standby that lags, the next one does not wait for them. */
  #startLater(): void {
    if (this.#stopTimer || this.#plants.length === 0 || !this.#hasPlace) return;
    const delayMs = this.#startedAt + this.#startIntervalMs - this.#options.clock.now();
    this.#stopTimer = this.#options.clock.after(delayMs, () => {
      this.#endWait();
      this.start();
    });
  }

  #endWait(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #isDue(): boolean {
    const waiting = this.#plants.length;
    if (waiting === 0 || !this.#hasPlace) return false;
    if (waiting >= this.#options.database.maxTogether) return true;
    if (this.#inFlight.length < EAGER) {
      const plants = this.#inFlight.reduce((sum, { size }) => sum + size, 0);
      if (waiting >= plants * MIN_SHARE) return true;
    }
    return this.#options.clock.now() - this.#startedAt >= this.#startIntervalMs;
  }

  get #hasPlace(): boolean {
    return this.#inFlight.length < this.#options.database.limits.maxInFlight;
  }

  get #hasPlaceAside(): boolean {
    return this.#aside.length < this.#options.database.limits.maxInFlight;
  }

  /** In a brief slowdown of the database, the number of batches in flight must not reach the maximum. */
  get #startIntervalMs(): number {
    const { maxInFlight } = this.#options.database.limits;
    return Math.max(START_INTERVAL_MS, this.#inFlightMs / maxInFlight);
  }

  #startOne(): void {
    this.#startedAt = this.#options.clock.now();
    const batch = this.#context.runInAsyncScope(this.#options.start, undefined, this.#take());
    this.#inFlight = [...this.#inFlight, batch];
  }

  #standAside(batch: Batch): void {
    if (!this.#hasPlaceAside) return;
    this.#inFlight = this.#inFlight.filter((it) => it !== batch);
    this.#aside = [...this.#aside, batch];
  }

  #take(): readonly PendingPlant[] {
    const { maxTogether } = this.#options.database;
    let count = 0;
    let bytes = 0;
    for (const { call } of this.#plants) {
      bytes += call.size;
      if (count > 0 && (count >= maxTogether || bytes > MAX_BYTES)) break;
      count += 1;
    }
    return this.#plants.splice(0, count);
  }

  #forgetSettled(): void {
    this.#plants = this.#plants.filter(({ isSettled }) => !isSettled);
  }
}
