import { AsyncResource } from 'node:async_hooks';
import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';

/** The most plants of one insert, and the most bytes, but always at least one plant. */
const MAX_PLANTS = 1_000;
const MAX_BYTES = 2 ** 22;

/** When inserts start, how many, and how. */
interface InsertQueueOptions {
  /** The most inserts that start as soon as they are large enough. */
  readonly eager: number;
  /** The plants of such an insert, at least, as a share of all plants in flight. */
  readonly minShare: number;
  /** The most inserts in flight. */
  readonly slots: number;
  /** Milliseconds after which an insert starts, whatever its size is, while a slot is free. */
  readonly pauseMs: () => number;
  /** Starts an insert. Calls `releaseSlot` when it has ended, or earlier, or both. */
  readonly insert: (plants: readonly PendingPlant[], releaseSlot: () => void) => void;
  readonly clock: Clock;
}

/**
 * Natural batching (group commit): plants that are queued while inserts are in flight form the next insert. An idle
 * queue starts one at once. Otherwise, the next one starts when it has enough plants compared with all that are in
 * flight, when those have ended, or when they take long.
 */
export class InsertQueue {
  readonly #options: InsertQueueOptions;
  /** An insert has plants of many callers: a tracing agent must not count it as a part of the first one's request. */
  readonly #context = new AsyncResource('InsertQueue');
  #plants: PendingPlant[] = [];
  #inFlight = 0;
  #plantsInFlight = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Whether an insert starts at the end of the turn, with the plants that come until then. */
  #isStarting = false;
  /** Set while an insert starts after a pause, because a majority or a standby lags. */
  #stopPause: (() => void) | undefined;

  constructor(options: InsertQueueOptions) {
    this.#options = options;
  }

  push(plant: PendingPlant): void {
    this.#plants.push(plant);
    this.#startSoon();
  }

  /** Queues plants before all others. */
  pushFront(plants: readonly PendingPlant[]): void {
    if (plants.length === 0) return;
    this.#plants.unshift(...plants);
    this.#startSoon();
  }

  /** Forgets settled plants: while a frozen server takes every slot, the queue must not keep what has expired. */
  dropSettled(): void {
    this.#plants = this.#plants.filter(({ isSettled }) => !isSettled);
    if (this.#plants.length === 0) this.#endPause();
  }

  /** An idle queue waits until the promises of the turn have settled, another one for the end of the turn. */
  #startSoon(): void {
    if (this.#isStarting) return;
    const isIdle = this.#inFlight === 0;
    if (!isIdle && !this.#isDue()) {
      this.#startLater();
      return;
    }
    this.#isStarting = true;
    const soon = isIdle ? process.nextTick : setImmediate;
    soon(() => {
      this.#isStarting = false;
      this.#start();
    });
  }

  /** When the inserts in flight take long, the next one does not wait for them. */
  #startLater(): void {
    const { slots, pauseMs, clock } = this.#options;
    if (this.#stopPause || this.#inFlight >= slots) return;
    this.#stopPause = clock.after(this.#startedAt + pauseMs() - clock.now(), () => {
      this.#endPause();
      this.#start();
    });
  }

  #endPause(): void {
    this.#stopPause?.();
    this.#stopPause = undefined;
  }

  #start(): void {
    while (this.#isDue()) {
      const plants = this.#take();
      if (plants.length > 0) void this.#context.runInAsyncScope(this.#run, this, plants);
    }
    if (this.#plants.length > 0) this.#startLater();
  }

  #isDue(): boolean {
    const { eager, minShare, slots, pauseMs, clock } = this.#options;
    const waiting = this.#plants.length;
    if (waiting === 0 || this.#inFlight >= slots) return false;
    if (this.#inFlight < eager && waiting >= this.#plantsInFlight * minShare) return true;
    return clock.now() - this.#startedAt >= pauseMs();
  }

  async #run(plants: readonly PendingPlant[]): Promise<void> {
    const { insert, clock } = this.#options;
    this.#startedAt = clock.now();
    this.#inFlight += 1;
    this.#plantsInFlight += plants.length;
    await new Promise<void>((releaseSlot) => insert(plants, releaseSlot));
    this.#inFlight -= 1;
    this.#plantsInFlight -= plants.length;
    if (this.#plants.length > 0) this.#start();
  }

  #take(): PendingPlant[] {
    const plants: PendingPlant[] = [];
    let bytes = 0;
    let taken = 0;
    let max = MAX_PLANTS;
    for (const plant of this.#plants) {
      if (!plant.isSettled) {
        bytes += plant.call.size;
        max = Math.min(max, plant.maxTogether);
        if (plants.length > 0 && (plants.length >= max || bytes > MAX_BYTES)) break;
        plants.push(plant);
      }
      taken += 1;
    }
    this.#plants.splice(0, taken);
    return plants;
  }
}
