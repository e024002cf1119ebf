import type { Client } from '@plant-store/domain';
import { type CryptoKey, importJWK, type JWK } from 'jose';

/** The header parameters of a token that select its key. */
export interface KeyChoice {
  readonly alg: string;
  readonly kid: string | undefined;
}

interface PublicKey extends KeyChoice {
  readonly key: CryptoKey;
}

const MIN_RSA_BITS = 2048;
const MAX_VERIFIED = 10_000;

/**
 * The keys that an issuer publishes at one time. Caches the clients of tokens that were verified with them, so that a
 * signature is checked once and not with every request; these are dropped together with the keys.
 */
export class KeySet {
  /** The document that the issuer publishes. */
  readonly text: string;
  readonly #keys: readonly PublicKey[];
  /** By digests, never by tokens. */
  readonly #verified = new Map<string, { readonly client: Client; readonly until: number }>();

  private constructor(text: string, keys: readonly PublicKey[]) {
    this.text = text;
    this.#keys = keys;
  }

  /**
   * Imports the keys of a JSON Web Key Set (RFC 7517) for these algorithms. Skips keys that cannot be used,
   * as section 5 requires.
   *
   * Rejects with an `Error` when no key is left: an issuer without keys cannot have issued a token.
   */
  static async import(text: string, json: unknown, algorithms: readonly string[]) {
    const { keys } = { ...(json as { keys?: unknown } | null) };
    const isJwk = (it: unknown): it is JWK => typeof it === 'object' && it !== null;
    const found = Array.isArray(keys) ? keys.filter(isJwk) : [];
    const imports = found.flatMap((jwk) => algorithms.map((alg) => publicKey(jwk, alg)));
    const usable = (await Promise.all(imports)).filter((key) => key !== undefined);
    if (usable.length === 0) throw new Error('the key set holds no key that can be used');
    return new KeySet(text, usable);
  }

  /** Returns every key that matches: several when the token or the issuer does not name keys. */
  fitting({ alg, kid }: KeyChoice): readonly CryptoKey[] {
    return this.#keys
      .filter((key) => key.alg === alg && (kid === undefined || key.kid === kid))
      .map(({ key }) => key);
  }

  /** @param until When the entry expires, in milliseconds since the epoch. */
  cache(digest: string, client: Client, until: number): void {
    this.#verified.set(digest, { client, until });
    const [oldest] = this.#verified.size > MAX_VERIFIED ? this.#verified.keys() : [];
    if (oldest !== undefined) this.#verified.delete(oldest);
  }

  cached(digest: string, now: number): Client | undefined {
    const { client, until = now } = this.#verified.get(digest) ?? {};
    return now < until ? client : undefined;
  }
}

async function publicKey(jwk: JWK, alg: string): Promise<PublicKey | undefined> {
  const { kid, use = 'sig', key_ops: operations = ['verify'] } = jwk;
  if ((jwk.alg ?? alg) !== alg || use !== 'sig') return undefined;
  if (!Array.isArray(operations) || !operations.includes('verify')) return undefined;
  const key = await importJWK(jwk, alg).catch(() => undefined);
  if (key === undefined || key instanceof Uint8Array || !isStrongPublicKey(key)) return undefined;
  return { alg, kid, key };
}

function isStrongPublicKey({ type, algorithm }: CryptoKey): boolean {
  const { modulusLength = MIN_RSA_BITS } = algorithm as { modulusLength?: number };
  return type === 'public' && modulusLength >= MIN_RSA_BITS;
}
