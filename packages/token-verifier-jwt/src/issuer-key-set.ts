import { fetchJson, type JsonDocument } from './fetch-json.js';
import { findJwksUrl } from './issuer-metadata.js';
import { KeySet } from './key-set.js';

/** The options of {@link IssuerKeySet}; `JwtTokenVerifierOptions` describes them. */
export interface IssuerKeySetOptions {
  readonly issuer: string;
  readonly jwksUrl: URL | undefined;
  readonly algorithms: readonly string[];
  readonly maxCachedTokens: number;
}

/** The key set that an issuer publishes: at a URL that is configured, or that its metadata names. */
export class IssuerKeySet {
  readonly #options: IssuerKeySetOptions;
  #jwksUrl: URL | undefined;
  #keySet: KeySet | undefined;
  #text = '';

  constructor(options: IssuerKeySetOptions) {
    this.#options = options;
    this.#jwksUrl = options.jwksUrl;
  }

  /** The host that is asked next. */
  get host(): string {
    return (this.#jwksUrl ?? new URL(this.#options.issuer)).host;
  }

  /**
   * Fetches the key set. An unchanged document keeps the key set, and so the tokens that were verified with it.
   *
   * Rejects with an `Error` when it cannot be fetched or has no usable key, or with the signal's reason after an abort.
   */
  async load(signal: AbortSignal): Promise<KeySet> {
    const { text, json } = await this.#document(signal);
    if (this.#keySet !== undefined && text === this.#text) return this.#keySet;
    const { algorithms, maxCachedTokens } = this.#options;
    this.#keySet = await KeySet.import(json, algorithms, maxCachedTokens);
    this.#text = text;
    return this.#keySet;
  }

  /** Forgets a URL that was found through the metadata when fetching from it fails: the keys may have moved. */
  async #document(signal: AbortSignal): Promise<JsonDocument> {
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
