import { InvalidTokenError, type TokenVerifier } from './token-verifier.ts';

/** Adapter: accepts one token. */
export class StaticTokenVerifier implements TokenVerifier {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async verify(token: string): Promise<void> {
    if (token !== this.#token) throw new InvalidTokenError('invalid token');
  }
}
