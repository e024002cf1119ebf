import { TokenVerifierUnavailableError } from '@plant-store/domain';

/** Short enough that an issuer that does not respond is reported within two seconds of startup. */
const FETCH_TIMEOUT_MS = 1_500;
const MIN_FETCH_INTERVAL_MS = 10_000;
const MAX_KEY_AGE_MS = 60 * 60 * 1_000;

/** The options of {@link FetchedKeys}. */
export interface FetchedKeysOptions<Keys> {
  /** Fetches the keys. Rejects when there are none, or with the reason of the signal after an abort. */
  load(signal: AbortSignal): Promise<Keys>;
  /** Returns the host that `load` asks, for messages. */
  host(): string;
  /** Milliseconds from one fetch to the next. */
  readonly refreshIntervalMs: number;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  onFetched(): void;
  onFailed(error: TokenVerifierUnavailableError): void;
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
  #fetching: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

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
   * Resolves with whether there was a fetch: with false, at once, when the latest one of this kind was
   * less than 10 seconds ago.
   */
  async fetchAgain(): Promise<boolean> {
    if (this.#fetching === undefined) {
      if (this.#elapsed(this.#lastLimitedFetchAt) < MIN_FETCH_INTERVAL_MS) return false;
      this.#lastLimitedFetchAt = this.#options.now();
      this.#fetch();
    }
    await this.#fetching;
    return true;
  }

  /** Resolves when there are trusted keys. Otherwise rejects after the fetch under way, with {@link unavailable}. */
  async ready(): Promise<void> {
    if (this.trusted() === undefined) await this.#fetching;
    if (this.trusted() === undefined) throw this.unavailable();
  }

  /** Returns the error for a token whose key is unknown; its cause is the failure of the latest fetch. */
  unavailable(): TokenVerifierUnavailableError {
    const options = this.#failure === undefined ? {} : { cause: this.#failure };
    return new TokenVerifierUnavailableError("the issuer's keys cannot be fetched", options);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the token verifier is closed'));
    clearTimeout(this.#timer);
    await this.#fetching;
  }

  /** The absolute value: when the clock is set back, a time in the future must not stay recent without a limit. */
  #elapsed(since: number): number {
    return Math.abs(this.#options.now() - since);
  }

  #fetch(): void {
    clearTimeout(this.#timer);
    this.#fetching = this.#fetched().then((succeeded) => {
      this.#fetching = undefined;
      const delay = succeeded ? this.#options.refreshIntervalMs : MIN_FETCH_INTERVAL_MS;
      if (!this.#closing.signal.aborted) {
        this.#timer = setTimeout(() => this.#fetch(), delay).unref();
      }
    });
  }

  async #fetched(): Promise<boolean> {
    try {
      this.#keys = await this.#load();
      this.#fetchedAt = this.#options.now();
      this.#failure = undefined;
      this.#options.onFetched();
      return true;
    } catch (cause) {
      this.#lastLimitedFetchAt = this.#options.now();
      this.#failure = cause;
      if (!this.#closing.signal.aborted) this.#options.onFailed(this.unavailable());
      return false;
    }
  }

  async #load(): Promise<Keys> {
    const deadline = new AbortController();
    const expire = () => {
      const host = this.#options.host();
      deadline.abort(new Error(`no response from ${host} within ${FETCH_TIMEOUT_MS} ms`));
    };
    const timer = setTimeout(expire, FETCH_TIMEOUT_MS);
    const signal = AbortSignal.any([deadline.signal, this.#closing.signal]);
    try {
      return await this.#options.load(signal);
    } finally {
      clearTimeout(timer);
    }
  }
}
