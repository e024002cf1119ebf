import { setTimeout as wait } from 'node:timers/promises';
import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { OpenVerifier } from '@plant-store/token-verifier-contract';

/** The first has parts of 7, 21 and 8 characters. Only a part of more than 8 must stay secret. */
export const TOKENS = {
  gardener: 'a-token.that-was-given-to-the.gardener',
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

/** A verifier that keeps every sentence of the port. */
export function honestVerifier(issuer: SimulatedIssuer): TokenVerifier {
  let closed = false;
  const refuseWhenClosed = () => {
    if (closed) throw new TokenVerifierUnavailableError('closed');
  };
  return {
    async verify(token) {
      refuseWhenClosed();
      if (!/^[\w.~+/-]{8,}=*$/.test(token)) {
        throw new InvalidTokenError('malformed', { reason: 'malformed' });
      }
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

/** Opens a verifier whose issuer can fail. `breaks` replaces methods of an honest one. */
export function openVerifier(
  breaks: (honest: TokenVerifier, issuer: SimulatedIssuer) => Partial<TokenVerifier> = () => ({}),
): OpenVerifier {
  const issuer = new SimulatedIssuer();
  const honest = honestVerifier(issuer);
  const failing = (fault: SimulatedIssuer['fault']) => async () => {
    issuer.fault = fault;
  };
  return {
    verifier: { ...honest, ...breaks(honest, issuer) },
    accepted: [
      { token: TOKENS.gardener, name: 'gardener', permissions: ['create plants'] },
      { token: TOKENS.visitor, name: 'visitor', permissions: [] },
    ],
    refused: { 'an expired token': EXPIRED },
    secrets: [PASSWORD],
    outage: failing('gone'),
    stall: failing('silent'),
    malfunction: failing('garbled'),
    recover: failing(undefined),
  };
}

/** Opens a verifier that bridges outages, because it does not ask its issuer. */
export function openBridging(): OpenVerifier {
  return openVerifier(() => honestVerifier(new SimulatedIssuer()));
}

/**
 * Makes a verifier that looks at its issuer only when a token arrives. The first token after an outage is rejected
 * with `error`.
 */
export const hesitating =
  (error: Error) =>
  (honest: TokenVerifier, issuer: SimulatedIssuer): Partial<TokenVerifier> => {
    let failed = false;
    return {
      async verify(token) {
        const recovers = failed && issuer.fault === undefined;
        failed = issuer.fault !== undefined;
        if (recovers) throw error;
        return honest.verify(token);
      },
      async ready() {
        if (failed) throw new TokenVerifierUnavailableError('no token has arrived');
        await honest.ready();
      },
    };
  };
