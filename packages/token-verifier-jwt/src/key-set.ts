import { type CryptoKey, importJWK, type JWK } from 'jose';
import type { JsonDocument } from './fetch-json.js';
import { VerifiedTokens } from './verified-tokens.js';

/** The header parameters of a token that select its key. */
export interface KeyChoice {
  readonly alg: string;
  readonly kid: string | undefined;
}

interface PublicKey extends KeyChoice {
  readonly key: CryptoKey;
}

const MIN_RSA_BITS = 2048;

/** The keys that an issuer publishes at one time, and the tokens that were verified with them. */
export class KeySet {
  /** Belongs to the key set, so that cached tokens are dropped together with the keys that verified them. */
  readonly verified = new VerifiedTokens();
  /** The document that the issuer publishes. */
  readonly text: string;
  readonly #keys: readonly PublicKey[];

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
  static async import(document: JsonDocument, algorithms: readonly string[]): Promise<KeySet> {
    const { keys } = { ...(document.json as { keys?: unknown } | null) };
    const found = Array.isArray(keys) ? keys.filter(isJwk) : [];
    const imports = found.flatMap((jwk) => algorithms.map((alg) => publicKey(jwk, alg)));
    const usable = (await Promise.all(imports)).filter((key) => key !== undefined);
    if (usable.length === 0) throw new Error('the key set holds no key that can be used');
    return new KeySet(document.text, usable);
  }

  /** Returns every key that matches: several when the token or the issuer does not name keys. */
  fitting({ alg, kid }: KeyChoice): readonly CryptoKey[] {
    return this.#keys
      .filter((key) => key.alg === alg && (kid === undefined || key.kid === kid))
      .map(({ key }) => key);
  }
}

function isJwk(value: unknown): value is JWK {
  return typeof value === 'object' && value !== null;
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
