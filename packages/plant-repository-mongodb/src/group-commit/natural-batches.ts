import { AsyncResource } from 'node:async_hooks';

/** The limits of one batch. */
export interface BatchLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/** When batches start, and how many. */
export interface Pace {
  /** The most concurrent batches: each uses a connection of its own. */
  readonly maxUnderWay: number;
  /** The items of a further batch, at least, as a share of all items under way. */
  readonly minShare: number;
}

interface Sized {
  readonly size: number;
  /** The most items in a batch with this one. */
  readonly maxTogether: number;
  /** Whether the item needs no more work. */
  readonly settled: boolean;
}

/**
 * Natural batching (group commit): items that are queued while batches are under way form the next batch. An idle
 * queue starts a batch at once. Otherwise, the next batch starts when it has enough items compared with all batches
 * under way, or when those have ended.
 */
export class NaturalBatches<T extends Sized> {
  readonly #limits: BatchLimits;
  readonly #pace: Pace;
  readonly #work: (batch: T[]) => Promise<void>;
  /** A batch has items of many callers, so it runs in the asynchronous context of the constructor. */
  readonly #context = new AsyncResource('NaturalBatches');
  #queue: T[] = [];
  #batchesUnderWay = 0;
  #itemsUnderWay = 0;
  #starting = false;

  /** @param work Processes a batch, which is its own to change. Must not reject. */
  constructor(limits: BatchLimits, pace: Pace, work: (batch: T[]) => Promise<void>) {
    this.#limits = limits;
    this.#pace = pace;
    this.#work = work;
  }

  push(item: T): void {
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
    if (this.#starting || !this.#isDue()) return;
    this.#starting = true;
    setImmediate(() => {
      this.#starting = false;
      this.#start();
    });
  }

  #isDue(): boolean {
    const waiting = this.#queue.length;
    if (waiting === 0 || this.#batchesUnderWay === this.#pace.maxUnderWay) return false;
    return waiting >= this.#itemsUnderWay * this.#pace.minShare;
  }

  #start(): void {
    while (this.#isDue()) {
      const batch = this.#take();
      if (batch.length > 0) void this.#context.runInAsyncScope(() => this.#run(batch));
    }
  }

  async #run(batch: T[]): Promise<void> {
    const { length } = batch;
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
      if (!item.settled) {
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
