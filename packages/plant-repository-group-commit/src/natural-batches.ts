import { AsyncResource } from 'node:async_hooks';
import type { Clock } from './clock.js';

/** The limits of one batch. */
export interface BatchLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/** When batches start, and how many. */
export interface Pace {
  /** The most concurrent batches that start as soon as they are large enough. */
  readonly eager: number;
  /** The items of such a batch, at least, as a share of all items under way. */
  readonly minShare: number;
  /** The most concurrent batches. */
  readonly maxUnderWay: number;
  /** Milliseconds after which a batch starts, whatever its size is, while fewer than `maxUnderWay` are under way. */
  readonly maxPauseMs: () => number;
}

interface Sized {
  readonly size: number;
  /** The most items in a batch with this one. */
  readonly maxTogether: number;
  /** Whether the item needs no more work. */
  readonly isSettled: boolean;
}

/**
 * Natural batching (group commit): items that are queued while batches are under way form the next batch. An idle
 * queue starts a batch at once. Otherwise, the next batch starts when it has enough items compared with all batches
 * under way, when those have ended, or when the batches under way take long.
 */
export class NaturalBatches<T extends Sized> {
  readonly #limits: BatchLimits;
  readonly #pace: Pace;
  readonly #work: (batch: T[]) => Promise<void>;
  readonly #clock: Clock;
  /** A batch has items of many callers, so it runs in the asynchronous context of the constructor. */
  readonly #context = new AsyncResource('NaturalBatches');
  #queue: T[] = [];
  #batchesUnderWay = 0;
  #itemsUnderWay = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  #isStarting = false;
  #isWaiting = false;

  /** @param work Processes a batch, which is its own to change. Must not reject. */
  constructor(limits: BatchLimits, pace: Pace, work: (batch: T[]) => Promise<void>, clock: Clock) {
    this.#limits = limits;
    this.#pace = pace;
    this.#work = work;
    this.#clock = clock;
  }

  push(item: T): void {
    // While no batch can start, the queue must not keep what has expired.
    while (this.#queue[0]?.isSettled) this.#queue.shift();
    this.#queue.push(item);
    this.#startSoon();
  }

  /** Queues items before all others. */
  pushFront(items: readonly T[]): void {
    this.#queue.unshift(...items);
    this.#startSoon();
  }

  /** Starts a batch: at once when idle, otherwise at the end of the turn, to include items that come until then. */
  #startSoon(): void {
    if (this.#batchesUnderWay === 0) this.#start();
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

  /** When the batches under way take long, the next one does not wait for them. */
  #startLater(): void {
    if (this.#isWaiting || this.#queue.length === 0) return;
    if (this.#batchesUnderWay >= this.#pace.maxUnderWay) return;
    this.#isWaiting = true;
    this.#clock.after(this.#startedAt + this.#pace.maxPauseMs() - this.#clock.now(), () => {
      this.#isWaiting = false;
      this.#start();
    });
  }

  #isDue(): boolean {
    const { eager, minShare, maxUnderWay, maxPauseMs } = this.#pace;
    const waiting = this.#queue.length;
    if (waiting === 0 || this.#batchesUnderWay >= maxUnderWay) return false;
    const isEager = this.#batchesUnderWay < eager;
    if (isEager && waiting >= this.#itemsUnderWay * minShare) return true;
    return this.#clock.now() - this.#startedAt >= maxPauseMs();
  }

  #start(): void {
    while (this.#isDue()) {
      const batch = this.#take();
      if (batch.length > 0) void this.#context.runInAsyncScope(() => this.#run(batch));
    }
    this.#startLater();
  }

  async #run(batch: T[]): Promise<void> {
    const { length } = batch;
    this.#startedAt = this.#clock.now();
    this.#batchesUnderWay += 1;
    this.#itemsUnderWay += length;
    await this.#work(batch);
    this.#batchesUnderWay -= 1;
    this.#itemsUnderWay -= length;
    this.#start();
  }

  #take(): T[] {
    const batch: T[] = [];
    let bytes = 0;
    let taken = 0;
    let max = this.#limits.maxItems;
    for (const item of this.#queue) {
      if (!item.isSettled) {
        bytes += item.size;
        max = Math.min(max, item.maxTogether);
        if (batch.length > 0 && (batch.length >= max || bytes > this.#limits.maxBytes)) break;
        batch.push(item);
      }
      taken += 1;
    }
    this.#queue.splice(0, taken);
    return batch;
  }
}
