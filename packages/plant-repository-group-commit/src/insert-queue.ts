import { AsyncResource } from 'node:async_hooks';
import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';

/** The maximum number of bytes in one insert. An insert always holds at least one plant. */
const MAX_BYTES = 2 ** 22;

/** Expired plants must not pile up while a frozen server holds the maximum number of inserts. */
const FORGOTTEN_AFTER = 1_000;

/**
 * While fewer than `EAGER` inserts are in flight, the next one starts when it has `MIN_SHARE` as many plants as they have.
 * This stores more plants a second than one insert at a time, above all if the database is far away. A smaller share does
 * not store more.
 */
const EAGER = 4;
const MIN_SHARE = 1 / 2;

/** When inserts start, how many, and how. */
interface InsertQueueOptions {
  /** The maximum number of inserts in flight, not counting those that stand aside. */
  readonly maxInFlight: number;
  /** Milliseconds after the last start until the next insert starts even if it is small, unless the maximum is in flight. */
  readonly startIntervalMs: () => number;
  readonly maxPlants: () => number;
  /** Starts an insert. Calls `stepAside` when it has ended, or before that if later ones should not wait for it. */
  readonly startInsert: (plants: readonly PendingPlant[], stepAside: () => void) => void;
  readonly clock: Clock;
}

/**
 * Natural batching (group commit): plants that are queued while inserts are in flight form the next insert. It starts
 * when nothing is in flight, when it has enough plants compared with those in flight, or when those take long.
 */
export class InsertQueue {
  readonly #options: InsertQueueOptions;
  /**
   * An insert carries plants from many callers, so a tracing agent must not attribute it to the first caller's request.
   */
  readonly #context = new AsyncResource('InsertQueue');
  /** Replaced when plants leave: V8 keeps what a long-lived set once held. */
  #plants: PendingPlant[] = [];
  #inFlight = 0;
  #plantsInFlight = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Whether an insert will start at the end of the turn, with the plants that have arrived by then. */
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

  pushFront(plants: readonly PendingPlant[]): void {
    this.#plants = [...plants, ...this.#plants];
    this.#startSoon();
  }

  /** Returns the plants that wait, and starts no insert of them. */
  empty(): readonly PendingPlant[] {
    const plants = this.#plants;
    this.#plants = [];
    this.#endWait();
    return plants;
  }

  /** The plants of one turn of the event loop share an insert. */
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

  /** When the inserts in flight take long, as with a standby that lags, the next one does not wait for them. */
  #startLater(): void {
    const { maxInFlight, startIntervalMs, clock } = this.#options;
    if (this.#stopTimer || this.#plants.length === 0 || this.#inFlight >= maxInFlight) return;
    this.#stopTimer = clock.after(this.#startedAt + startIntervalMs() - clock.now(), () => {
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
    if (this.#plants.length === 0) this.#endWait();
    else this.#startLater();
  }

  #isDue(): boolean {
    const { maxInFlight, startIntervalMs, maxPlants, clock } = this.#options;
    const waiting = this.#plants.length;
    if (waiting === 0 || this.#inFlight >= maxInFlight) return false;
    if (waiting >= maxPlants()) return true;
    if (this.#inFlight < EAGER && waiting >= this.#plantsInFlight * MIN_SHARE) return true;
    return clock.now() - this.#startedAt >= startIntervalMs();
  }

  async #run(plants: readonly PendingPlant[]): Promise<void> {
    const { startInsert, clock } = this.#options;
    this.#startedAt = clock.now();
    this.#inFlight += 1;
    this.#plantsInFlight += plants.length;
    await new Promise<void>((stepAside) => startInsert(plants, stepAside));
    this.#inFlight -= 1;
    this.#plantsInFlight -= plants.length;
    this.#start();
  }

  #take(): readonly PendingPlant[] {
    const maxPlants = this.#options.maxPlants();
    let count = 0;
    let bytes = 0;
    for (const { call } of this.#plants) {
      bytes += call.size;
      if (count > 0 && (count >= maxPlants || bytes > MAX_BYTES)) break;
      count += 1;
    }
    return this.#plants.splice(0, count);
  }

  #forgetSettled(): void {
    this.#plants = this.#plants.filter(({ isSettled }) => !isSettled);
  }
}
