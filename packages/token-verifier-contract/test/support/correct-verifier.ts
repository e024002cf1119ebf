import { setTimeout as wait } from 'node:timers/promises';
import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';

export const TOKENS = {
  gardener: 'a-token-that-was-given-to-the-gardener',
  visitor: 'a-token-that-was-given-to-the-visitor',
};
export const EXPIRED = 'a-token-of-the-gardener-that-has-expired';
export const PASSWORD = 'the password: of the verifier';
export const VISITOR = authenticatedClient('visitor', []);

const TIME_LIMIT_MS = 20;

/** An issuer that knows the clients of tokens; a test can make it fail. */
export class SimulatedIssuer {
  fault: 'gone' | 'silent' | 'garbled' | undefined;
  readonly #clients = new Map<string, Client>([
    [TOKENS.gardener, authenticatedClient('gardener', ['create plants'])],
    [TOKENS.visitor, VISITOR],
  ]);

  /** Resolves with `undefined` when the token is not valid. */
  async clientOf(token: string): Promise<Client | undefined> {
    if (this.fault === 'silent') await wait(TIME_LIMIT_MS);
    if (this.fault !== undefined) throw new TokenVerifierUnavailableError('no response');
    return this.#clients.get(token);
  }
}

/** A verifier that keeps every promise of the port. */
export function correctVerifier(issuer: SimulatedIssuer): TokenVerifier {
  let closed = false;
  const refuseWhenClosed = () => {
    if (closed) throw new TokenVerifierUnavailableError('closed');
  };
  return {
    async verify(token) {
      refuseWhenClosed();
      const client = await issuer.clientOf(token);
      if (client === undefined) throw new InvalidTokenError('unknown');
      return client;
    },
    async ready() {
      refuseWhenClosed();
      await issuer.clientOf('');
    },
    async close() {
      closed = true;
    },
  };
}
