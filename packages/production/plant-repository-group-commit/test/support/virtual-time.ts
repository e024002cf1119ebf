import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/clock.js';

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

/** Time that advances to the next timer when nothing else is left to do: hours take milliseconds, and a run is reproducible. */
export class VirtualTime implements Clock {
  /** In the order in which they fire. */
  readonly #timers: Timer[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, act: () => void): () => void {
    if (ms === Number.POSITIVE_INFINITY) return () => undefined;
    // A timer of Node.js takes at least a millisecond.
    const timer = { at: this.#now + Math.max(1, ms), act };
    this.#timers.splice(this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Advances the time without firing a timer, as while a process is suspended. */
  skip(ms: number): void {
    this.#now += ms;
  }

  /** Advances the time to the next timer, and fires this one only. */
  step(): void {
    const next = this.#timers.shift();
    if (next === undefined) return;
    this.#now = Math.max(this.#now, next.at);
    next.act();
  }

  /** Advances the time until no timer is left; rejects after `limit` milliseconds of virtual time. */
  async runOut(limit: number): Promise<void> {
    const end = this.#now + limit;
    for (;;) {
      await nextTurn();
      await nextTurn();
      const [next] = this.#timers;
      if (next === undefined) return;
      if (next.at > end) throw new Error('it never ends');
      this.#now = next.at;
      await this.#fireDue();
    }
  }

  /** Fires timers as Node.js does: in one turn, with the promises of one timer settled before the next one. */
  async #fireDue(): Promise<void> {
    while (this.#timers[0]?.at === this.#now) {
      this.step();
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
  }
}
