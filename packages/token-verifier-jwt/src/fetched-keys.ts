import { TokenVerifierUnavailableError } from '@plant-store/domain';
import type { TokenObserver } from './token-event.js';

/** A first fetch takes at most this long, and so does a call that waits for one: both are reported within 2 seconds. */
const WAIT_MS = 1_500;
/** A slow issuer, or one whose name is slow to resolve, gets four times as long after each fetch that timed out. */
const MAX_FETCH_MS = 12_000;
const REFRESH_INTERVAL_MS = 5 * 60 * 1_000;
const MIN_FETCH_INTERVAL_MS = 10_000;
const MAX_KEY_AGE_MS = 60 * 60 * 1_000;

/** Time, which a test replaces by one that it advances itself. */
export interface Clock {
  /** Returns milliseconds since the epoch. */
  now(): number;
  /** Calls `act` once, after some milliseconds. Returns what prevents the call. */
  after(ms: number, act: () => void): () => void;
}

/** A timer that keeps no process alive. */
export const after: Clock['after'] = (ms, act) => {
  const timer = setTimeout(act, ms).unref();
  return () => clearTimeout(timer);
};

/** The options of {@link FetchedKeys}. */
export interface FetchedKeysOptions<Keys> {
  /** Fetches the keys; `known` are the latest. Rejects when there are none, and soon after an abort. */
  readonly load: (known: Keys | undefined, signal: AbortSignal) => Promise<Keys>;
  readonly clock: Clock;
  /** Receives the outcome of each fetch. */
  readonly observer: TokenObserver;
}

/**
 * Fetches the keys of one issuer when constructed, and regularly in the background. Fetched keys are
 * trusted for an hour, even if every later fetch fails.
 */
export class FetchedKeys<Keys> {
  readonly #options: FetchedKeysOptions<Keys>;
  readonly #closing = new AbortController();
  #keys: Keys | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** When a fetch last failed, or was started for a token with an unknown key: the next one must wait. */
  #lastLimitedFetchAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #timeLimitMs = WAIT_MS;
  #fetching: Promise<void> | undefined;
  #cancelNext = () => {};

  constructor(options: FetchedKeysOptions<Keys>) {
    this.#options = options;
    this.#fetch();
  }

  /** Returns the keys, or `undefined` when the latest successful fetch is an hour ago or more. */
  trusted(): Keys | undefined {
    return this.#elapsed(this.#fetchedAt) < MAX_KEY_AGE_MS ? this.#keys : undefined;
  }

  /** Returns whether the keys are at most 10 seconds old, so that a key that is not among them does not exist. */
  areFresh(): boolean {
    return this.#elapsed(this.#fetchedAt) <= MIN_FETCH_INTERVAL_MS;
  }

  /**
   * Fetches the keys again for a token with an unknown key, or waits for the fetch under way.
   *
   * Resolves with whether a fetch has ended: with false, at once, when the latest one of this kind was
   * less than 10 seconds ago, and after 1.5 seconds when it takes longer.
   */
  async fetchAgain(): Promise<boolean> {
    if (this.#fetching === undefined) {
      if (this.#elapsed(this.#lastLimitedFetchAt) < MIN_FETCH_INTERVAL_MS) return false;
      this.#lastLimitedFetchAt = this.#options.clock.now();
      this.#fetch();
    }
    return this.#fetchEnds();
  }

  /** Resolves when there are trusted keys. Otherwise rejects after the fetch under way, with {@link unavailable}. */
  async ready(): Promise<void> {
    if (this.trusted() === undefined) await this.#fetchEnds();
    if (this.trusted() === undefined) throw this.unavailable();
  }

  /** Returns the error for a token whose key is unknown; its cause is the failure of the latest fetch. */
  unavailable(): TokenVerifierUnavailableError {
    const options = this.#failure === undefined ? {} : { cause: this.#failure };
    return new TokenVerifierUnavailableError("the issuer's keys cannot be fetched", options);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the token verifier is closed'));
    this.#cancelNext();
    await this.#fetching;
  }

  /** The absolute value: when the clock is set back, a time in the future must not stay recent without a limit. */
  #elapsed(since: number): number {
    return Math.abs(this.#options.clock.now() - since);
  }

  /** Resolves with whether the fetch under way has ended within the time that a call may take. */
  #fetchEnds(): Promise<boolean> {
    return new Promise((resolve) => {
      const stopTimer = this.#options.clock.after(WAIT_MS, () => {
        this.#failure ??= noResponse(WAIT_MS);
        resolve(false);
      });
      Promise.resolve(this.#fetching).then(() => {
        stopTimer();
        resolve(true);
      });
    });
  }

  #fetch(): void {
    this.#cancelNext();
    this.#fetching = this.#fetched().then((delayMs) => {
      this.#fetching = undefined;
      if (this.#closing.signal.aborted) return;
      this.#cancelNext = this.#options.clock.after(delayMs, () => this.#fetch());
    });
  }

  /** Resolves with the milliseconds until the next fetch. */
  async #fetched(): Promise<number> {
    const { clock, load, observer } = this.#options;
    const limitMs = this.#timeLimitMs;
    const deadline = new AbortController();
    const stopTimer = clock.after(limitMs, () => {
      this.#timeLimitMs = Math.min(4 * limitMs, MAX_FETCH_MS);
      deadline.abort(noResponse(limitMs));
    });
    try {
      const signal = AbortSignal.any([deadline.signal, this.#closing.signal]);
      this.#keys = await load(this.#keys, signal).finally(stopTimer);
      this.#fetchedAt = clock.now();
      this.#failure = undefined;
      observer({ type: 'issuer reached' });
      return REFRESH_INTERVAL_MS;
    } catch (cause) {
      this.#lastLimitedFetchAt = clock.now();
      this.#failure = cause;
      if (!this.#closing.signal.aborted)
        observer({ type: 'issuer not reached', error: this.unavailable() });
      return MIN_FETCH_INTERVAL_MS;
    }
  }
}

function noResponse(ms: number): Error {
  return new Error(`no response within ${ms} ms`);
}
