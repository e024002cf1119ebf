import { setTimeout as wait } from 'node:timers/promises';

/** What a batch is limited by. */
export interface BatchLimits {
  readonly items: number;
  readonly bytes: number;
}

interface Sized {
  readonly size: number;
  /** Whether nothing needs to be done about it any more. */
  readonly settled: boolean;
}

/** How long to wait before what was given back is tried again. */
export const RETRY_PAUSE_MS = 50;

/**
 * Natural batching (group commit): whatever has queued while the last batch was under way goes out
 * as the next one. One batch at a time; an idle queue starts at once.
 */
export class NaturalBatches<T extends Sized> {
  readonly #limits: BatchLimits;
  readonly #work: (batch: readonly T[]) => Promise<readonly T[]>;
  #queue: T[] = [];
  #busy = false;

  /** @param work Deals with a batch, and gives back what is to be tried again before all others. Never rejects. */
  constructor(limits: BatchLimits, work: (batch: readonly T[]) => Promise<readonly T[]>) {
    this.#limits = limits;
    this.#work = work;
  }

  push(item: T): void {
    this.#queue.push(item);
    if (!this.#busy) void this.#run();
  }

  /** Puts items before all others. */
  pushFront(items: readonly T[]): void {
    this.#queue.unshift(...items);
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const again = await this.#work(batch);
      if (again.length === 0) continue;
      await wait(RETRY_PAUSE_MS);
      this.#queue.unshift(...again);
    }
    this.#busy = false;
  }

  #take(): T[] {
    const batch: T[] = [];
    let bytes = 0;
    let taken = 0;
    for (const item of this.#queue) {
      bytes += item.settled ? 0 : item.size;
      if (batch.length === this.#limits.items) break;
      if (batch.length > 0 && bytes > this.#limits.bytes) break;
      taken += 1;
      if (!item.settled) batch.push(item);
    }
    this.#queue.splice(0, taken);
    return batch;
  }
}
