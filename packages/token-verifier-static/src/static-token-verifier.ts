import { hash, timingSafeEqual } from 'node:crypto';
import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { digestProblem, labelProblem, type TokenDigest } from './token-digest.js';

interface KnownToken {
  readonly digest: Buffer;
  readonly client: Client;
}

/**
 * Accepts tokens whose SHA-256 digest it was given; it never holds a token itself.
 *
 * Every digest is compared, each in constant time, so that the time that a check takes does
 * not reveal how near a guess came.
 */
export class StaticTokenVerifier implements TokenVerifier {
  #known: readonly KnownToken[];
  #closed = false;

  /**
   * @param digests Several may share a label, as the old and the new token of one client do.
   * @throws {TypeError} when a digest, or a label, is not what {@link TokenDigest} says.
   */
  constructor(digests: readonly TokenDigest[]) {
    this.#known = knownTokens(digests);
  }

  /**
   * From now on accepts these tokens and no others; a check sees either all of the old ones or all of the new.
   *
   * @throws {TypeError} like the constructor; the tokens accepted so far then go on being accepted.
   */
  replace(digests: readonly TokenDigest[]): void {
    this.#known = knownTokens(digests);
  }

  async verify(token: string): Promise<Client> {
    this.#refuseWhenClosed();
    const digest = Buffer.from(hash('sha256', token, 'hex'), 'hex');
    let client: Client | undefined;
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest)) client = known.client;
    }
    if (client === undefined) {
      throw new InvalidTokenError('the token is not known', { reason: 'unknown token' });
    }
    return client;
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new TokenVerifierUnavailableError('the token verifier is closed');
  }
}

function knownTokens(digests: readonly TokenDigest[]): KnownToken[] {
  return digests.map(({ sha256, label }, index) => {
    const problem = labelProblem(label) ?? digestProblem(sha256);
    if (problem !== undefined) throw new TypeError(`token ${index + 1}: ${problem}`);
    const client = authenticatedClient(label, ['create plants']);
    return { digest: Buffer.from(sha256, 'hex'), client };
  });
}
