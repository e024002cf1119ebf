import type { Client } from '@plant-store/domain';
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';

const MIN_RSA_BITS = 2048;
const MAX_VERIFIED = 10_000;

/** The keys that an issuer publishes, which jose selects and imports, and the clients of the tokens that they have verified. */
export class KeySet {
  readonly json: string;
  readonly #find;
  /** By digests, never by tokens. */
  readonly #verified = new Map<string, { client: Client; until: number }>();

  private constructor(document: unknown) {
    this.json = JSON.stringify(document);
    this.#find = createLocalJWKSet(document as JSONWebKeySet);
  }

  /** Rejects when the document has no key that can be used: then the issuer cannot have issued a token. */
  static async of(document: unknown, algorithms: readonly string[]): Promise<KeySet> {
    const keySet = new KeySet(document);
    const usable = await Promise.all(algorithms.map((alg) => keySet.fitting({ alg })));
    if (usable.flat().length > 0) return keySet;
    const rule = `public, for ${algorithms.join(', ')}, of RSA with ${MIN_RSA_BITS} bits or more`;
    throw new Error(`the key set holds no key that can be used: ${rule}`);
  }

  /**
   * Resolves with the keys that fit the header of a token: several when it or the issuer names none. Skips keys that
   * cannot be imported (RFC 7517, section 5), and weak ones.
   */
  async fitting(header: JWSHeaderParameters): Promise<readonly CryptoKey[]> {
    const keys: CryptoKey[] = [];
    try {
      keys.push(await this.#find(header));
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys)
        for await (const key of error) keys.push(key);
    }
    return keys.filter(({ algorithm }) => {
      const { modulusLength = MIN_RSA_BITS } = algorithm as { modulusLength?: number };
      return modulusLength >= MIN_RSA_BITS;
    });
  }

  /** Returns the client of a token that was verified before, until a time in milliseconds. */
  verified(digest: string, now: number): Client | undefined {
    const { client, until = 0 } = this.#verified.get(digest) ?? {};
    return now < until ? client : undefined;
  }

  /** Keeps the clients of the latest 10,000 tokens. */
  keep(digest: string, client: Client, until: number): void {
    const [oldest] = this.#verified.size < MAX_VERIFIED ? [] : this.#verified.keys();
    if (oldest !== undefined) this.#verified.delete(oldest);
    this.#verified.set(digest, { client, until });
  }
}
