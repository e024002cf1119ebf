import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/clock.js';

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

/** Time that advances to the next timer when nothing else is left to do: hours take milliseconds, and a run is reproducible. */
export class VirtualTime implements Clock {
  readonly #timers = new Set<Timer>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, act: () => void): () => void {
    // A timer of Node.js takes at least a millisecond.
    const timer = { at: this.#now + Math.max(1, ms), act };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Advances the time to the next timer, and fires this one only. */
  step(): void {
    const [first, ...others] = this.#timers;
    if (first === undefined) return;
    const next = others.reduce((next, it) => (it.at < next.at ? it : next), first);
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.act();
  }

  /** Advances the time until no timer is left; rejects after `limit` milliseconds of virtual time. */
  async runOut(limit: number): Promise<void> {
    const end = this.#now + limit;
    for (;;) {
      await nextTurn();
      await nextTurn();
      if (this.#timers.size === 0) return;
      const earliest = Math.min(...[...this.#timers].map(({ at }) => at));
      if (earliest > end) throw new Error('there is no end to it');
      this.#now = earliest;
      await this.#fireDue();
    }
  }

  /** Fires timers as Node.js does: in one turn, with the promises of one timer settled before the next one. */
  async #fireDue(): Promise<void> {
    for (const timer of [...this.#timers].filter(({ at }) => at === this.#now)) {
      if (this.#timers.delete(timer)) timer.act();
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
  }
}
