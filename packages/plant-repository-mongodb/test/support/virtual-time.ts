import { syncBuiltinESMExports } from 'node:module';
import promises, { setImmediate as nextTurn } from 'node:timers/promises';

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

/**
 * Time that advances to the next timer when nothing else is left to do, so that hours take milliseconds and a run
 * is reproducible. Replaces `performance.now()`, the global `setTimeout` and that of `node:timers/promises`, but not
 * `setImmediate`.
 */
export class VirtualTime {
  readonly #timers = new Set<Timer>();
  readonly #real = { setTimeout, clearTimeout };
  readonly #realWait = promises.setTimeout;
  #now = 0;

  install(): void {
    performance.now = () => this.#now;
    Object.assign(globalThis, {
      setTimeout: (act: () => void, ms: number) => this.#set(act, ms),
      clearTimeout: (timer: Timer) => this.#timers.delete(timer),
    });
    const wait = (ms: number, _: unknown, options?: { readonly signal?: AbortSignal }) =>
      this.#wait(ms, options?.signal);
    Object.assign(promises, { setTimeout: wait });
    syncBuiltinESMExports();
  }

  uninstall(): void {
    Reflect.deleteProperty(performance, 'now');
    Object.assign(globalThis, this.#real);
    Object.assign(promises, { setTimeout: this.#realWait });
    syncBuiltinESMExports();
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

  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#timers.delete(timer);
        reject(signal?.reason);
      };
      const timer = this.#set(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', abort);
    });
  }

  #set(act: () => void, ms: number): Timer {
    const timer = { at: this.#now + ms, act };
    this.#timers.add(timer);
    return timer;
  }
}
