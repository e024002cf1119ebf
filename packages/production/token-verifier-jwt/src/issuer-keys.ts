import { type Client, TokenVerifierUnavailableError } from '@plant-store/domain';
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { nameOf } from './jwt-token-verifier-options.js';
import type { TokenObserver } from './token-event.js';

const REFRESH_INTERVAL_MS = 5 * 60 * 1_000;
const RETRY_INTERVAL_MS = 10_000;
/** The minimum time between fetches for tokens with unknown keys. */
const MIN_INTERVAL_MS = 1_000;
const MAX_FETCH_MS = 12_000;
/** How long a call waits for fetches, so that it takes less than 2 seconds. */
const MAX_WAIT_MS = 1_500;
const MAX_KEY_AGE_MS = 60 * 60 * 1_000;
const MAX_VERIFIED = 10_000;

/** A source of time that tests can replace with one they control. */
export interface FetchClock {
  /** Milliseconds since some moment, which never go back. */
  now(): number;
  /** Calls `act` once, after `ms` milliseconds. */
  after(ms: number, act: () => void): void;
}

/**
 * Fetches the keys that can be used. Calls `fetching` with the URL of each document before fetching it. Rejects if there are
 * none, and soon after an abort.
 */
export type FetchKeys = (
  signal: AbortSignal,
  fetching: (url: URL) => void,
) => Promise<JSONWebKeySet>;

/** The clients of the latest tokens verified with a set of keys, by token digest, never by token. */
export class VerifiedClients extends Map<string, { client: Client; until: number }> {
  override set(digest: string, verified: { client: Client; until: number }): this {
    const [oldest] = this.size < MAX_VERIFIED ? [] : this.keys();
    if (oldest !== undefined) this.delete(oldest);
    return super.set(digest, verified);
  }
}

/** The keys of an issuer, fetched regularly and for tokens of unknown keys. Trusted for an hour, even if later fetches fail. */
export class IssuerKeys {
  /** A new map whenever the keys have changed. */
  #verified = new VerifiedClients();
  readonly #clock: FetchClock;
  readonly #observer: TokenObserver;
  readonly #closing: AbortSignal;
  readonly #load: FetchKeys;
  /** The current keys, and their JSON, with which a change is noticed. */
  #keys = createLocalJWKSet({ keys: [] });
  #json = '';
  /** The name of the document that is being fetched, or was fetched last. */
  #document = '';
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  /** Ends the fetch under way. `AbortSignal.any` would leak memory on Node.js 20. */
  #abort = new AbortController();
  /** The next fetch for tokens, until it begins, and its earliest time. */
  #next: Promise<void> | undefined;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Why the latest fetch failed. */
  #failure: TokenVerifierUnavailableError | undefined;

  /** @param closing Ends the fetch under way, and all later ones. */
  constructor(load: FetchKeys, clock: FetchClock, observer: TokenObserver, closing: AbortSignal) {
    this.#load = load;
    this.#clock = clock;
    this.#observer = observer;
    this.#closing = closing;
    closing.addEventListener('abort', () => this.#abort.abort(closing.reason));
    this.#fetchRegularly();
  }

  /** The clients of tokens that were verified with the present keys. */
  get verified(): VerifiedClients {
    return this.#verified;
  }

  get areTrusted(): boolean {
    return this.#clock.now() - this.#fetchedAt < MAX_KEY_AGE_MS;
  }

  /** Resolves once there are trusted keys. Otherwise rejects like {@link fitting}. */
  async ready(): Promise<void> {
    if (this.areTrusted) return;
    await Promise.race([this.#fetching ?? this.#fetchForTokens(), this.#late()]);
  }

  /**
   * Yields the trusted keys that fit a token: several if it or the issuer names none. Then fetches the keys and yields
   * again, until a fetch that began after the call has ended: then there are no other keys. Rejects with
   * `TokenVerifierUnavailableError` if a fetch fails or takes too long.
   */
  async *fitting(header: JWSHeaderParameters): AsyncGenerator<readonly CryptoKey[]> {
    const earlier = this.#fetching;
    yield this.#select(header);
    const late = this.#late();
    if (earlier !== undefined) {
      await Promise.race([earlier, late]);
      yield this.#select(header);
    }
    await Promise.race([this.#fetchForTokens(), late]);
    yield this.#select(header);
  }

  async #select(header: JWSHeaderParameters): Promise<readonly CryptoKey[]> {
    const keys: CryptoKey[] = [];
    try {
      if (this.areTrusted) keys.push(await this.#keys(header));
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys)
        for await (const key of error) keys.push(key);
      else if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    return keys;
  }

  async #fetchRegularly(): Promise<void> {
    const pauseMs = await this.#fetch().then(
      () => REFRESH_INTERVAL_MS,
      () => Math.max(0, this.#nextAt - this.#clock.now()),
    );
    if (!this.#closing.aborted) this.#clock.after(pauseMs, () => this.#fetchRegularly());
  }

  /** Fetches at most once a second, or once in 10 seconds while fetches fail. All waiting tokens share one fetch. */
  #fetchForTokens(): Promise<void> {
    const waitMs = this.#nextAt - this.#clock.now();
    if (waitMs > 0 && this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#next ??= new Promise<void>((resolve) => {
      if (waitMs > 0) this.#clock.after(waitMs, resolve);
      else resolve();
    }).then(() => {
      this.#next = undefined;
      this.#nextAt = this.#clock.now() + MIN_INTERVAL_MS;
      return this.#fetch();
    });
    return this.#next;
  }

  #fetch(): Promise<void> {
    this.#fetching ??= this.#reload().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #reload(): Promise<void> {
    const since = this.#clock.now();
    const fetching = (url: URL) => (this.#document = nameOf(url));
    const loaded = await this.#load(this.#fetchSignal(), fetching).catch((cause: unknown) => {
      this.#closing.throwIfAborted();
      this.#failure = unavailable(cause);
      this.#nextAt = since + RETRY_INTERVAL_MS;
      this.#observer({ type: 'issuer not reached', error: this.#failure });
      throw this.#failure;
    });
    const json = JSON.stringify(loaded);
    if (json !== this.#json) {
      this.#verified = new VerifiedClients();
      this.#keys = createLocalJWKSet(loaded);
      this.#json = json;
    }
    this.#failure = undefined;
    this.#fetchedAt = this.#clock.now();
    this.#observer({ type: 'issuer reached' });
  }

  #fetchSignal(): AbortSignal {
    this.#closing.throwIfAborted();
    const abort = new AbortController();
    this.#clock.after(MAX_FETCH_MS, () => abort.abort(noResponse(MAX_FETCH_MS)));
    this.#abort = abort;
    return abort.signal;
  }

  /** Rejects once a call has waited as long as it may. */
  #late(): Promise<never> {
    return new Promise((_, reject) => {
      const late = () => new Error(`${this.#document}: ${noResponse(MAX_WAIT_MS).message}`);
      this.#clock.after(MAX_WAIT_MS, () => reject(this.#failure ?? unavailable(late())));
    });
  }
}

function noResponse(ms: number): Error {
  return new Error(`no response within ${ms} ms`);
}

function unavailable(cause: unknown): TokenVerifierUnavailableError {
  return new TokenVerifierUnavailableError("the issuer's keys cannot be fetched", { cause });
}
