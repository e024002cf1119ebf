import { NoResponseError } from './clock.js';

/** How long a reply may take while checks succeed. Not a number of checks: a busy machine makes fewer. */
const LOST_AFTER_MS = 10_000;

/** The reply to something that was sent. */
export interface WatchedReply<T> {
  readonly reply: Promise<T>;
  /** Resolves when a check that began later has succeeded, and there is no reply yet. */
  readonly late: Promise<void>;
}

/** Something that was sent and has no reply yet. */
interface OpenReply {
  readonly becomeLate: () => void;
  readonly lost: AbortController;
  /** For how long checks had succeeded at the first success since it was sent; `undefined` until then. */
  since?: number;
}

/**
 * Decides which replies are late, and which are lost together with their connection. A failed firewall, router or host can drop
 * a connection silently, and then the reply never comes. Slow or frozen servers must be waited for, so only checks that succeed
 * count: they wait for what inserts wait for.
 */
export class LostReplies {
  readonly #maxStepMs: number;
  /** Replaced at each change: V8 keeps what a long-lived set, or the listeners of a long-lived signal, once held. */
  #open: readonly OpenReply[] = [];
  /** For how long checks have succeeded. */
  #succeedingMs = 0;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** @param maxStepMs Longer steps between two checks show that the server was frozen, or this process. */
  constructor(maxStepMs: number) {
    this.#maxStepMs = maxStepMs;
  }

  /** Calls with a signal that aborts with {@link NoResponseError} when the reply counts as lost. */
  watch<T>(call: (lost: AbortSignal) => Promise<T>): WatchedReply<T> {
    const lost = new AbortController();
    const late = new Promise<void>((becomeLate) => {
      this.#open = [...this.#open, { becomeLate, lost }];
    });
    const reply = call(lost.signal).finally(() => {
      this.#open = this.#open.filter((it) => it.lost !== lost);
    });
    return { reply, late };
  }

  /** Counts a check that has ended, at this time of the clock. */
  count(now: number, check: 'succeeded' | 'failed'): void {
    const step = Math.min(now - this.#checkedAt, this.#maxStepMs);
    this.#checkedAt = now;
    if (check === 'failed') return;
    this.#succeedingMs += step;
    for (const it of this.#open) {
      // The first success may be of a check that began earlier.
      if (it.since !== undefined) it.becomeLate();
      it.since ??= this.#succeedingMs;
      if (this.#succeedingMs - it.since >= LOST_AFTER_MS) it.lost.abort(new NoResponseError());
    }
  }
}
