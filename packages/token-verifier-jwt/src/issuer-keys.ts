import { TokenVerifierUnavailableError } from '@plant-store/domain';
import type { KeySet } from './key-set.js';
import type { TokenObserver } from './token-event.js';

const REFRESH_INTERVAL_MS = 5 * 60 * 1_000;
const RETRY_INTERVAL_MS = 10_000;
/** Between fetches for tokens with unknown keys. */
const MIN_INTERVAL_MS = 1_000;
/** How long a call waits for fetches, so that it takes less than 2 seconds. */
const MAX_WAIT_MS = 1_500;
const MAX_KEY_AGE_MS = 60 * 60 * 1_000;

/** Time, which a test replaces by one that it advances itself. */
export interface Clock {
  /** Returns milliseconds of a monotonic clock. */
  now(): number;
  /** Calls `act` once, after some milliseconds. */
  after(ms: number, act: () => void): void;
}

/** How the keys of one issuer are fetched. */
interface Fetching {
  /** Fetches the keys that can be used. Rejects when there are none, and soon after `closing` is aborted. */
  load(): Promise<KeySet>;
  readonly clock: Clock;
  /** Receives the outcome of each fetch. */
  readonly observer: TokenObserver;
  /** Ends all fetches. */
  readonly closing: AbortSignal;
}

/**
 * The keys of one issuer. They are fetched when constructed, in the background, and for tokens with unknown keys. They are
 * trusted for an hour, even if every later fetch fails.
 */
export class IssuerKeys {
  readonly #how: Fetching;
  /** The same one until the keys have changed. */
  #keySet: KeySet | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  /** The next fetch for tokens, until it begins, and the earliest time for it. */
  #next: Promise<void> | undefined;
  #nextAt = 0;
  /** Why the latest fetch failed. */
  #failure: TokenVerifierUnavailableError | undefined;

  constructor(how: Fetching) {
    this.#how = how;
    this.#fetchRegularly();
  }

  /** The keys that were fetched less than an hour ago. */
  get trusted(): KeySet | undefined {
    return this.#how.clock.now() - this.#fetchedAt < MAX_KEY_AGE_MS ? this.#keySet : undefined;
  }

  /**
   * Yields the trusted keys, if there are any. Then fetches them, and yields them again, until a fetch has ended that
   * began after the call: then there is no other key.
   *
   * Rejects with `TokenVerifierUnavailableError` when a fetch fails, or takes too long.
   */
  async *latest(): AsyncGenerator<KeySet> {
    const underWay = this.#fetching;
    if (this.trusted !== undefined) yield this.trusted;
    const late = this.#late();
    for (const fetch of [async () => underWay, () => this.#fetchForTokens()]) {
      await Promise.race([fetch(), late]);
      if (this.trusted !== undefined) yield this.trusted;
    }
  }

  async #fetchRegularly(): Promise<void> {
    const pauseMs = await this.#fetch().then(
      () => REFRESH_INTERVAL_MS,
      () => Math.max(0, this.#nextAt - this.#how.clock.now()),
    );
    if (!this.#how.closing.aborted) this.#how.clock.after(pauseMs, () => this.#fetchRegularly());
  }

  /** At most once a second, and in 10 seconds once while they fail. All tokens that wait share one fetch. */
  #fetchForTokens(): Promise<void> {
    const waitMs = Math.max(0, this.#nextAt - this.#how.clock.now());
    if (waitMs > 0 && this.#failure !== undefined) return Promise.reject(this.#failure);
    const due = new Promise<void>((resolve) => this.#how.clock.after(waitMs, resolve));
    this.#next ??= due.then(() => {
      this.#next = undefined;
      this.#nextAt = this.#how.clock.now() + MIN_INTERVAL_MS;
      return this.#fetch();
    });
    return this.#next;
  }

  /** Fetches the keys, or waits for the fetch under way. */
  #fetch(): Promise<void> {
    const since = this.#how.clock.now();
    this.#fetching ??= this.#how
      .load()
      .then(
        (keySet) => this.#succeeded(keySet),
        (cause) => this.#failed(cause, since),
      )
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  #succeeded(keySet: KeySet): void {
    if (keySet.json !== this.#keySet?.json) this.#keySet = keySet;
    this.#failure = undefined;
    this.#fetchedAt = this.#how.clock.now();
    this.#how.observer({ type: 'issuer reached' });
  }

  #failed(cause: unknown, since: number): never {
    this.#how.closing.throwIfAborted();
    this.#failure = unavailable(cause);
    this.#nextAt = since + RETRY_INTERVAL_MS;
    this.#how.observer({ type: 'issuer not reached', error: this.#failure });
    throw this.#failure;
  }

  /** Rejects after the time that a call may wait. */
  #late(): Promise<never> {
    return new Promise((_, reject) => {
      const error = unavailable(new Error(`no response within ${MAX_WAIT_MS} ms`));
      this.#how.clock.after(MAX_WAIT_MS, () => reject(this.#failure ?? error));
    });
  }
}

function unavailable(cause: unknown): TokenVerifierUnavailableError {
  return new TokenVerifierUnavailableError("the issuer's keys cannot be fetched", { cause });
}
