import { setMaxListeners } from 'node:events';
import { NoResponseError } from './clock.js';

/** How long a reply may take while checks succeed. Not a number of checks: a busy machine makes fewer. */
const LOST_AFTER_MS = 10_000;

/**
 * Decides which connections to consider lost. A failed firewall, router or host can drop a connection silently, and
 * then the reply never comes. Slow or frozen servers must be waited for, so only time during which checks succeed
 * counts.
 */
export class LostConnections {
  readonly #maxStepMs: number;
  /** The signal of what is sent until the next check that succeeds. */
  #latest = sharedSignal();
  /** The signals of what was sent before, the earliest first, and for how long checks have succeeded since. */
  readonly #earlier: { readonly sent: AbortController; succeedingMs: number }[] = [];
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** @param maxStepMs Longer steps between two checks show that the server was frozen, or this process. */
  constructor(maxStepMs: number) {
    this.#maxStepMs = maxStepMs;
  }

  /** Aborts with {@link NoResponseError} when the connection of what is sent now counts as lost. */
  get signal(): AbortSignal {
    return this.#latest.signal;
  }

  /** A check has ended, at this time of the clock. */
  count(now: number, hasSucceeded: boolean): void {
    const step = Math.min(now - this.#checkedAt, this.#maxStepMs);
    this.#checkedAt = now;
    if (!hasSucceeded) return;
    for (const it of this.#earlier) it.succeedingMs += step;
    // The last, added one success ago, is always kept.
    const firstKept = this.#earlier.findIndex((it) => it.succeedingMs < LOST_AFTER_MS);
    for (const { sent } of this.#earlier.splice(0, firstKept)) sent.abort(new NoResponseError());
    this.#earlier.push({ sent: this.#latest, succeedingMs: 0 });
    this.#latest = sharedSignal();
  }
}

/** For everything that is sent between two checks: a signal for each insert would cost CPU time. */
function sharedSignal(): AbortController {
  const controller = new AbortController();
  // Otherwise, Node.js warns of more than ten listeners.
  setMaxListeners(0, controller.signal);
  return controller;
}
