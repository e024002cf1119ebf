import { TokenVerifierUnavailableError } from '@plant-store/domain';
import { fetchJson, type JsonDocument } from './fetch-json.js';
import { findJwksUrl } from './issuer-metadata.js';
import { KeySet } from './key-set.js';

/** Short enough that an issuer that does not respond is reported within two seconds of startup. */
const FETCH_TIMEOUT_MS = 1_500;
const MIN_FETCH_INTERVAL_MS = 10_000;
const MAX_KEY_AGE_MS = 60 * 60 * 1_000;

/** The options of {@link IssuerKeys}; `JwtTokenVerifierOptions` describes them. */
export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly jwksUrl: URL | undefined;
  readonly algorithms: readonly string[];
  readonly maxCachedTokens: number;
  readonly refreshIntervalMs: number;
  readonly now: () => number;
  onFetched(): void;
  onFailed(error: TokenVerifierUnavailableError): void;
}

/**
 * Fetches the keys of one issuer when constructed, and regularly in the background. Fetched keys are
 * trusted for an hour, even if every later fetch fails.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #closing = new AbortController();
  #jwksUrl: URL | undefined;
  #keySet: KeySet | undefined;
  #text = '';
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** When a fetch last failed, or was started for a token with an unknown key: the next one must wait. */
  #lastLimitedFetchAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #fetching: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#jwksUrl = options.jwksUrl;
    this.#fetch();
  }

  /** Returns the keys, or `undefined` when the latest successful fetch is an hour ago or more. */
  trusted(): KeySet | undefined {
    return this.#elapsed(this.#fetchedAt) < MAX_KEY_AGE_MS ? this.#keySet : undefined;
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
      await this.#keep(await this.#document());
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

  /** An unchanged document keeps the key set, and so the tokens that were verified with it. */
  async #keep({ text, json }: JsonDocument): Promise<void> {
    if (this.#keySet !== undefined && text === this.#text) return;
    const { algorithms, maxCachedTokens } = this.#options;
    this.#keySet = await KeySet.import(json, algorithms, maxCachedTokens);
    this.#text = text;
  }

  async #document(): Promise<JsonDocument> {
    const deadline = new AbortController();
    const expire = () => {
      const { host } = this.#jwksUrl ?? new URL(this.#options.issuer);
      deadline.abort(new Error(`no response from ${host} within ${FETCH_TIMEOUT_MS} ms`));
    };
    const timer = setTimeout(expire, FETCH_TIMEOUT_MS);
    const signal = AbortSignal.any([deadline.signal, this.#closing.signal]);
    try {
      return await this.#fetchDocument(signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Forgets a URL that was found through the metadata when fetching from it fails: the keys may have moved. */
  async #fetchDocument(signal: AbortSignal): Promise<JsonDocument> {
    const { issuer, jwksUrl } = this.#options;
    const known = this.#jwksUrl;
    this.#jwksUrl ??= await findJwksUrl(issuer, signal);
    try {
      return await fetchJson(this.#jwksUrl, signal);
    } catch (cause) {
      if (known !== undefined) this.#jwksUrl = jwksUrl;
      throw cause;
    }
  }
}
