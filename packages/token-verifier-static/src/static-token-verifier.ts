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
 * Accepts the tokens whose SHA-256 digests it was given; it never holds a token itself.
 *
 * Compares every digest, each in constant time, so that the duration of a check reveals nothing about the
 * digests.
 */
export class StaticTokenVerifier implements TokenVerifier {
  #known: readonly KnownToken[];
  #closed = false;

  /**
   * @param digests Several may share a label, as the old and the new token of one client do.
   * @throws {TypeError} when a digest or a label is not as {@link TokenDigest} describes it.
   */
  constructor(digests: readonly TokenDigest[]) {
    this.#known = knownTokens(digests);
  }

  /**
   * Replaces the accepted tokens, all at once: no check sees a mixture of old and new ones.
   *
   * @throws {TypeError} like the constructor; then the old tokens stay accepted.
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
