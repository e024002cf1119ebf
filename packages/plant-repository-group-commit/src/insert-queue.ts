import { AsyncResource } from 'node:async_hooks';
import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';

/** The limits of one insert. */
export interface BatchLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/** When inserts start, and how many. */
export interface Pace {
  /** The most inserts that start as soon as they are large enough. */
  readonly eager: number;
  /** The plants of such an insert, at least, as a share of all plants in flight. */
  readonly minShare: number;
  /** The most inserts in flight. */
  readonly slots: number;
  /** Milliseconds after which an insert starts, whatever its size is, while a slot is free. */
  readonly pauseMs: () => number;
}

/**
 * Natural batching (group commit): plants that are queued while inserts are in flight form the next insert. An idle
 * queue starts one at once. Otherwise, the next one starts when it has enough plants compared with all that are in
 * flight, when those have ended, or when they take long.
 */
export class InsertQueue {
  readonly #limits: BatchLimits;
  readonly #pace: Pace;
  readonly #insert: (plants: readonly PendingPlant[]) => Promise<void>;
  readonly #clock: Clock;
  /** An insert has plants of many callers, so it runs in the asynchronous context of the constructor. */
  readonly #context = new AsyncResource('InsertQueue');
  #plants: PendingPlant[] = [];
  #inFlight = 0;
  #plantsInFlight = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Whether an insert starts at the end of the turn, with the plants that come until then. */
  #isStarting = false;
  /** Whether an insert starts after a pause, because the database is slow. */
  #isWaiting = false;

  /** @param insert Resolves when the insert has ended, or releases its slot. Must not reject. */
  constructor(
    limits: BatchLimits,
    pace: Pace,
    insert: (plants: readonly PendingPlant[]) => Promise<void>,
    clock: Clock,
  ) {
    this.#limits = limits;
    this.#pace = pace;
    this.#insert = insert;
    this.#clock = clock;
  }

  push(plant: PendingPlant): void {
    // While no insert can start, the queue must not keep what has expired.
    while (this.#plants[0]?.isSettled) this.#plants.shift();
    this.#plants.push(plant);
    this.#startSoon();
  }

  /** Queues plants before all others. */
  pushFront(plants: readonly PendingPlant[]): void {
    if (plants.length === 0) return;
    this.#plants.unshift(...plants);
    this.#startSoon();
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
    if (this.#isWaiting || this.#inFlight >= this.#pace.slots) return;
    this.#isWaiting = true;
    this.#clock.after(this.#startedAt + this.#pace.pauseMs() - this.#clock.now(), () => {
      this.#isWaiting = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#isDue()) {
      const plants = this.#take();
      if (plants.length > 0) void this.#context.runInAsyncScope(() => this.#run(plants));
    }
    if (this.#plants.length > 0) this.#startLater();
  }

  #isDue(): boolean {
    const { eager, minShare, slots, pauseMs } = this.#pace;
    const waiting = this.#plants.length;
    if (waiting === 0 || this.#inFlight >= slots) return false;
    if (this.#inFlight < eager && waiting >= this.#plantsInFlight * minShare) return true;
    return this.#clock.now() - this.#startedAt >= pauseMs();
  }

  async #run(plants: readonly PendingPlant[]): Promise<void> {
    this.#startedAt = this.#clock.now();
    this.#inFlight += 1;
    this.#plantsInFlight += plants.length;
    await this.#insert(plants);
    this.#inFlight -= 1;
    this.#plantsInFlight -= plants.length;
    if (this.#plants.length > 0) this.#start();
  }

  #take(): PendingPlant[] {
    const plants: PendingPlant[] = [];
    let bytes = 0;
    let taken = 0;
    let max = this.#limits.maxItems;
    for (const plant of this.#plants) {
      if (!plant.isSettled) {
        bytes += plant.size;
        max = Math.min(max, plant.maxTogether);
        if (plants.length > 0 && (plants.length >= max || bytes > this.#limits.maxBytes)) break;
        plants.push(plant);
      }
      taken += 1;
    }
    this.#plants.splice(0, taken);
    return plants;
  }
}
