import {
  type Client,
  DEFAULT_PERMISSIONS,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { type TokenDigest, tokenDigest, tokenProblem } from './token-digest.js';

/**
 * Accepts the tokens whose SHA-256 digests it was given; it never holds a token. How long a look-up takes may reveal a part
 * of a digest, but a random token cannot be computed from a digest.
 *
 * @example
 * ```ts
 * import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
 *
 * const token = newToken();
 * const tokens = new StaticTokenVerifier([{ sha256: tokenDigest(token), label: 'nursery' }]);
 * const client = await tokens.verify(token);
 * ```
 */
export class StaticTokenVerifier implements TokenVerifier {
  #clients: ReadonlyMap<string, Client>;
  #closed = false;

  /**
   * @param digests Several may share a label, as the old and the new token of one client do.
   * @throws {TypeError} if a digest or a label breaks the rules of {@link TokenDigest}.
   */
  constructor(digests: readonly TokenDigest[]) {
    this.#clients = clientsOf(digests);
  }

  /** Replaces all accepted tokens together. @throws {TypeError} like the constructor; then the old ones stay accepted. */
  replace(digests: readonly TokenDigest[]): void {
    this.#clients = clientsOf(digests);
  }

  async verify(token: string): Promise<Client> {
    this.#expectOpen();
    const client = this.#clients.get(tokenDigest(token));
    if (client === undefined) throw new InvalidTokenError('the token is unknown');
    return client;
  }

  async ready(): Promise<void> {
    this.#expectOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #expectOpen(): void {
    if (this.#closed) throw new TokenVerifierUnavailableError('the token verifier is closed');
  }
}

/** Returns the client of each token, by the digest of the token. */
function clientsOf(digests: readonly TokenDigest[]): ReadonlyMap<string, Client> {
  return new Map(
    digests.map(({ sha256, label, permissions = DEFAULT_PERMISSIONS }, index) => {
      const problem = tokenProblem({ sha256, label });
      if (problem !== undefined) throw new TypeError(`token ${index + 1}: ${problem}`);
      return [sha256.toLowerCase(), { name: label, permissions: new Set(permissions) }];
    }),
  );
}
