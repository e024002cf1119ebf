import { setTimeout as wait } from 'node:timers/promises';
import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { Expected } from '@plant-store/liars';
import type { OpenVerifier } from '@plant-store/token-verifier-contract';

/** The first has parts of 7, 21 and 8 characters. Only a part of more than 8 must stay secret. */
export const GARDENER = 'a-token.that-was-given-to-the.gardener';
const VISITOR = 'a-token-that-was-given-to-the-visitor';
export const EXPIRED = 'a-token-of-the-gardener-that-has-expired';
export const PASSWORD = 'the password: of the verifier';

const TIME_LIMIT_MS = 20;

/** An issuer that knows the clients of tokens; a test can make it fail. */
class SimulatedIssuer {
  fault: 'gone' | 'silent' | 'garbled' | undefined;
  readonly #clients = new Map<string, Client>([
    [GARDENER, authenticatedClient('gardener', ['create plants'])],
    [VISITOR, authenticatedClient('visitor', [])],
  ]);

  /** Resolves with `undefined` when the token is not valid. */
  async clientOf(token: string): Promise<Client | undefined> {
    if (this.fault === 'silent') await wait(TIME_LIMIT_MS);
    if (this.fault !== undefined) throw new TokenVerifierUnavailableError('no response');
    return this.#clients.get(token);
  }
}

/** Returns what a verifier does instead of an honest one with the same issuer. */
export type Difference = (
  honest: TokenVerifier,
  issuer: SimulatedIssuer,
) => Partial<TokenVerifier> & Expected;

function honestVerifier(issuer: SimulatedIssuer): TokenVerifier {
  let closed = false;
  const expectOpen = () => {
    if (closed) throw new TokenVerifierUnavailableError('closed');
  };
  return {
    async verify(token) {
      expectOpen();
      if (!/^[\w.~+/-]{8,}=*$/.test(token))
        throw new InvalidTokenError('malformed', { reason: 'malformed' });
      const client = await issuer.clientOf(token);
      if (client === undefined) throw new InvalidTokenError('unknown');
      return client;
    },
    async ready() {
      expectOpen();
      await issuer.clientOf('');
    },
    async close() {
      closed = true;
    },
  };
}

/** Opens a verifier whose issuer can fail. It differs from an honest one in what a lie does. */
export function openVerifier(lie: Difference): OpenVerifier & Expected {
  const issuer = new SimulatedIssuer();
  const honest = honestVerifier(issuer);
  const { failure, hangs, ...changed } = lie(honest, issuer);
  const failing = (fault: SimulatedIssuer['fault']) => async () => {
    issuer.fault = fault;
  };
  return {
    failure,
    hangs,
    verifier: { ...honest, ...changed },
    accepted: [
      { token: GARDENER, name: 'gardener', permissions: ['create plants'] },
      { token: VISITOR, name: 'visitor', permissions: [] },
    ],
    refused: { 'an expired token': EXPIRED },
    secrets: [PASSWORD],
    outage: failing('gone'),
    stall: failing('silent'),
    malfunction: failing('garbled'),
    recover: failing(undefined),
  };
}

/** Looks at its issuer only when a token arrives. The first token after an outage is rejected with `error`. */
export const hesitating =
  (error: Error): Difference =>
  (honest, issuer) => {
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

/** Verifiers that keep every promise. */
export const honestVerifiers: Readonly<Record<string, Difference>> = {
  'keeps every promise': () => ({}),
  'hesitates after an outage': hesitating(new TokenVerifierUnavailableError('not yet')),
  'bridges outages, because it does not ask its issuer': () =>
    honestVerifier(new SimulatedIssuer()),
  'names the format of its tokens in its errors': ({ verify }) => ({
    verify: (token) =>
      verify(token).catch((error: Error) => {
        error.message += ': a token begins with a-token and "that-was-given-to-the"';
        throw error;
      }),
  }),
};
