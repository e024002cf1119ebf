import { AsyncResource } from 'node:async_hooks';
import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';
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
  /** Stores a batch. Calls `stepAside` if later batches should not wait for it. */
  readonly store: (plants: readonly PendingPlant[], stepAside: () => void) => Promise<void>;
  readonly clock: Clock;
}

/**
 * Natural batching (group commit): plants that are queued while batches are in flight form the next batch. It starts
 * when nothing is in flight, when it has enough plants compared with those in flight, or when those take long.
 */
export class InsertQueue {
  readonly #options: InsertQueueOptions;
  /** A batch carries plants from many callers, so a tracing agent must not attribute it to the first caller's request. */
  readonly #context = new AsyncResource('InsertQueue');
  /** Replaced when plants leave: V8 keeps what a long-lived set once held. */
  #plants: PendingPlant[] = [];
  /** How many batches are in flight, not counting those that stand aside. */
  #inFlight = 0;
  #plantsInFlight = 0;
  #aside = 0;
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

  /** Whether batches may use a second connection each: those that stand aside leave enough. */
  get hasSpareConnections(): boolean {
    return this.#aside <= this.#options.database.limits.maxAside / 2;
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
      this.#start();
    });
  }

  /** When the batches in flight take long, as with a standby that lags, the next one does not wait for them. */
  #startLater(): void {
    if (this.#stopTimer || this.#plants.length === 0 || !this.#hasPlace) return;
    const delayMs = this.#startedAt + this.#startIntervalMs - this.#options.clock.now();
    this.#stopTimer = this.#options.clock.after(delayMs, () => {
      this.#endWait();
      this.#start();
    });
  }

  #endWait(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #start(): void {
    this.#forgetSettled();
    while (this.#isDue()) void this.#context.runInAsyncScope(this.#run, this, this.#take());
    this.#startLater();
  }

  #isDue(): boolean {
    const waiting = this.#plants.length;
    if (waiting === 0 || !this.#hasPlace) return false;
    if (waiting >= this.#options.database.maxTogether) return true;
    if (this.#inFlight < EAGER && waiting >= this.#plantsInFlight * MIN_SHARE) return true;
    return this.#options.clock.now() - this.#startedAt >= this.#startIntervalMs;
  }

  get #hasPlace(): boolean {
    return this.#inFlight < this.#options.database.limits.maxInFlight;
  }

  /** In a brief slowdown of the database, the number of batches in flight must not reach the maximum. */
  get #startIntervalMs(): number {
    const { maxInFlight } = this.#options.database.limits;
    return Math.max(START_INTERVAL_MS, this.#inFlightMs / maxInFlight);
  }

  async #run(plants: readonly PendingPlant[]): Promise<void> {
    const startedAt = this.#options.clock.now();
    this.#startedAt = startedAt;
    this.#inFlight += 1;
    this.#plantsInFlight += plants.length;
    let isAside = false;
    const leave = () => {
      this.#inFlightMs = this.#options.clock.now() - startedAt;
      this.#inFlight -= 1;
      this.#plantsInFlight -= plants.length;
    };
    await this.#options.store(plants, () => {
      if (isAside || this.#aside >= this.#options.database.limits.maxAside) return;
      isAside = true;
      this.#aside += 1;
      leave();
      this.#start();
    });
    if (isAside) this.#aside -= 1;
    else leave();
    this.#start();
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
