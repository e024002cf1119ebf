import { TokenVerifierUnavailableError } from '@plant-store/domain';
import { fetchJson, type JsonDocument } from './fetch-json.js';
import { findJwksUrl } from './issuer-metadata.js';
import { KeySet } from './key-set.js';

/** Short enough that a silent issuer is reported within two seconds of startup. */
const FETCH_TIMEOUT_MS = 1_500;
const FETCH_INTERVAL_MS = 10_000;
const TRUSTED_FOR_MS = 60 * 60 * 1_000;

/** What {@link IssuerKeys} needs to know; see `JwtTokenVerifierOptions`. */
export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly jwksUrl: URL | undefined;
  readonly algorithms: readonly string[];
  readonly rememberedTokens: number;
  readonly refreshInterval: number;
  readonly now: () => number;
  onFetched(): void;
  onFailed(error: TokenVerifierUnavailableError): void;
}

/**
 * The keys of one issuer, fetched at once and again in the background. Keys that were fetched are
 * trusted for an hour, however often fetching fails in it.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #closing = new AbortController();
  #jwksUrl: URL | undefined;
  #keySet: KeySet | undefined;
  #text = '';
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** The latest fetch that failed, or that a token with an unknown key asked for. */
  #heldBackAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #fetching: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#jwksUrl = options.jwksUrl;
    this.#fetch();
  }

  /** The issuer's keys, unless the latest successful fetch is more than an hour ago. */
  trusted(): KeySet | undefined {
    return this.#elapsed(this.#fetchedAt) < TRUSTED_FOR_MS ? this.#keySet : undefined;
  }

  /** Whether the keys are so new that what is not among them does not exist. */
  upToDate(): boolean {
    return this.#elapsed(this.#fetchedAt) <= FETCH_INTERVAL_MS;
  }

  /**
   * Looks again for a key that is not known: waits for the fetch under way, or makes one.
   *
   * Resolves with false at once when neither is to be had, because the latest one was less than
   * 10 seconds ago.
   */
  async lookAgain(): Promise<boolean> {
    if (this.#fetching === undefined) {
      if (this.#elapsed(this.#heldBackAt) < FETCH_INTERVAL_MS) return false;
      this.#heldBackAt = this.#options.now();
      this.#fetch();
    }
    await this.#fetching;
    return true;
  }

  /** Resolves when there are trusted keys, at the latest after the fetch under way. */
  async ready(): Promise<void> {
    if (this.trusted() === undefined) await this.#fetching;
    if (this.trusted() === undefined) throw this.unavailable();
  }

  /** The error for a token whose key is not known, with the reason why the latest fetch failed. */
  unavailable(): TokenVerifierUnavailableError {
    const options = this.#failure === undefined ? {} : { cause: this.#failure };
    return new TokenVerifierUnavailableError("the issuer's keys cannot be fetched", options);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the token verifier is closed'));
    clearTimeout(this.#timer);
    await this.#fetching;
  }

  /** Without a sign: after the clock was set back, the past must not last for ever. */
  #elapsed(since: number): number {
    return Math.abs(this.#options.now() - since);
  }

  #fetch(): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#fetching = this.#fetched().then((succeeded) => {
      this.#fetching = undefined;
      const delay = succeeded ? this.#options.refreshInterval : FETCH_INTERVAL_MS;
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
      this.#heldBackAt = this.#options.now();
      this.#failure = cause;
      if (!this.#closing.signal.aborted) this.#options.onFailed(this.unavailable());
      return false;
    }
  }

  /** The same text leaves the key set as it is, with the tokens that were verified with it. */
  async #keep({ text, json }: JsonDocument): Promise<void> {
    if (this.#keySet !== undefined && text === this.#text) return;
    const { algorithms, rememberedTokens } = this.#options;
    this.#keySet = await KeySet.import(json, algorithms, rememberedTokens);
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
      return await this.#documentBefore(signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A place found through the metadata is looked for anew when the keys are no longer there. */
  async #documentBefore(signal: AbortSignal): Promise<JsonDocument> {
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
