import { NoResponseError } from './clock.js';

/** How long a reply may take while checks succeed. Not a number of checks: a busy machine makes fewer. */
const LOST_AFTER_MS = 10_000;

/** Something that was sent and has no reply yet. */
interface Sent {
  readonly lost: AbortController;
  /** For how long checks had succeeded at the first success since it was sent; `undefined` until then. */
  since?: number;
}

/**
 * Decides which connections to consider lost. A failed firewall, router or host can drop a connection silently, and
 * then the reply never comes. Slow or frozen servers must be waited for, so only time during which checks succeed
 * counts.
 */
export class LostConnections {
  readonly #maxStepMs: number;
  /** Replaced at each change: V8 keeps what a long-lived set, or the listeners of a long-lived signal, once held. */
  #sent: readonly Sent[] = [];
  /** For how long checks have succeeded. */
  #succeedingMs = 0;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** @param maxStepMs Longer steps between two checks show that the server was frozen, or this process. */
  constructor(maxStepMs: number) {
    this.#maxStepMs = maxStepMs;
  }

  /** Calls with a signal that aborts with {@link NoResponseError} when the connection counts as lost. Settles like the call. */
  async watch<T>(call: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const sent: Sent = { lost: new AbortController() };
    this.#sent = [...this.#sent, sent];
    try {
      return await call(sent.lost.signal);
    } finally {
      this.#sent = this.#sent.filter((it) => it !== sent);
    }
  }

  /** A check has ended, at this time of the clock. */
  count(now: number, hasSucceeded: boolean): void {
    const step = Math.min(now - this.#checkedAt, this.#maxStepMs);
    this.#checkedAt = now;
    if (!hasSucceeded) return;
    this.#succeedingMs += step;
    for (const it of this.#sent) {
      it.since ??= this.#succeedingMs;
      const isLost = this.#succeedingMs - it.since >= LOST_AFTER_MS;
      if (isLost) it.lost.abort(new NoResponseError());
    }
  }
}
