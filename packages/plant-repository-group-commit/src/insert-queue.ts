import { AsyncResource } from 'node:async_hooks';
import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';

/** The maximum number of plants and bytes in one insert. An insert always holds at least one plant. */
const MAX_PLANTS = 1_000;
const MAX_BYTES = 2 ** 22;

/**
 * While fewer than `EAGER` inserts are in flight, the next one starts when it has `MIN_SHARE` as many plants as they have.
 * With 50 connections over HTTP, this gives a tenth more creates a second than one insert at a time if the database is on
 * the same machine, and two thirds more if it is 10 ms away. A share of a quarter gives no more.
 */
const EAGER = 4;
const MIN_SHARE = 1 / 2;

/** When inserts start, how many, and how. */
interface InsertQueueOptions {
  /** The maximum number of inserts in flight, not counting stragglers. Each occupies a slot until it releases it. */
  readonly slots: number;
  /** Whether an insert waits for more plants, instead of starting as soon as a slot is free. */
  readonly waits: boolean;
  /** Milliseconds after the last start until the next insert starts even if it is small, provided a slot is free. */
  readonly startIntervalMs: () => number;
  /** Starts an insert. Calls `releaseSlot` when it has ended, and before that if it becomes a straggler. */
  readonly insert: (plants: readonly PendingPlant[], releaseSlot: () => void) => void;
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
  #plants = new Set<PendingPlant>();
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
    this.#plants.add(plant);
    this.#startSoon();
  }

  pushFront(plants: readonly PendingPlant[]): void {
    if (plants.length === 0) return;
    this.#plants = new Set([...plants, ...this.#plants]);
    this.#startSoon();
  }

  /** Removes a settled plant. If a frozen server occupies every slot, expired plants must not pile up in the queue. */
  delete(plant: PendingPlant): void {
    this.#plants.delete(plant);
    if (this.#plants.size === 0) this.#endWait();
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
    const { slots, startIntervalMs, clock } = this.#options;
    if (this.#stopTimer || this.#inFlight >= slots) return;
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
    while (this.#isDue()) void this.#context.runInAsyncScope(this.#run, this, this.#take());
    if (this.#plants.size > 0) this.#startLater();
  }

  #isDue(): boolean {
    const { slots, waits, startIntervalMs, clock } = this.#options;
    const waiting = this.#plants.size;
    if (waiting === 0 || this.#inFlight >= slots) return false;
    if (!waits) return true;
    if (this.#inFlight < EAGER && waiting >= this.#plantsInFlight * MIN_SHARE) return true;
    return clock.now() - this.#startedAt >= startIntervalMs();
  }

  async #run(plants: readonly PendingPlant[]): Promise<void> {
    const { insert, clock } = this.#options;
    this.#startedAt = clock.now();
    this.#inFlight += 1;
    this.#plantsInFlight += plants.length;
    await new Promise<void>((releaseSlot) => insert(plants, releaseSlot));
    this.#inFlight -= 1;
    this.#plantsInFlight -= plants.length;
    if (this.#plants.size > 0) this.#start();
  }

  #take(): PendingPlant[] {
    const plants: PendingPlant[] = [];
    let bytes = 0;
    let max = MAX_PLANTS;
    for (const plant of this.#plants) {
      bytes += plant.call.size;
      max = Math.min(max, plant.maxTogether);
      if (plants.length > 0 && (plants.length >= max || bytes > MAX_BYTES)) break;
      plants.push(plant);
    }
    // A set that is emptied would keep them: see `Members`.
    if (plants.length === this.#plants.size) this.#plants = new Set();
    else for (const plant of plants) this.#plants.delete(plant);
    return plants;
  }
}
