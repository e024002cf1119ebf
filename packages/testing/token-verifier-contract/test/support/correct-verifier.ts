import { setTimeout as wait } from 'node:timers/promises';
import type { Difference, Expected, Variant } from '@plant-store/contract-suite/mocha';
import { type Client, InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import type { OpenVerifier } from '@plant-store/token-verifier-contract';

/** The first has parts of 7, 21 and 8 characters. Only a part of more than 8 must stay secret. */
export const GARDENER = 'a-token.that-was-given-to-the.gardener';
const VISITOR = 'a-token-that-was-given-to-the-visitor';
export const EXPIRED = 'a-token-of-the-gardener-that-has-expired';
export const PASSWORD = 'the password: of the verifier';

const TIME_LIMIT_MS = 20;

/** Names the format of the tokens, which is not secret. */
const UNKNOWN = 'unknown: a token begins with a-token and "that-was-given-to-the"';

/** An issuer that knows the clients of tokens; a test can make it fail. */
class SimulatedIssuer {
  fault: 'gone' | 'silent' | 'garbled' | undefined;
  readonly #clients = new Map<string, Client>([
    [GARDENER, { name: 'gardener', permissions: new Set(['create plants']) }],
    [VISITOR, { name: 'visitor', permissions: new Set() }],
  ]);

  /** Resolves with `undefined` when the token is not valid. */
  async clientOf(token: string): Promise<Client | undefined> {
    if (this.fault === 'silent') await wait(TIME_LIMIT_MS);
    if (this.fault !== undefined) throw new TokenVerifierUnavailableError('no response');
    return this.#clients.get(token);
  }
}

/** A correct verifier: its issuer, its past, its methods and their steps. A defect replaces some. */
export type CorrectVerifier = ReturnType<typeof correctVerifier>;

function correctVerifier(issuer: SimulatedIssuer) {
  const past = {
    accepted: new Map<string, Client>(),
    latest: '',
    outage: undefined as Error | undefined,
    closed: false,
  };

  function expectOpen(): void {
    if (past.closed) throw new TokenVerifierUnavailableError('closed');
  }

  async function verify(given: string): Promise<Client> {
    past.latest = given;
    const response = verifier.respond(given);
    if (response instanceof Error) throw response;
    if (response) return response;
    const token = await verifier.take(given);
    expectOpen();
    if (!/^[\w.~+/-]{8,}=*$/.test(token)) throw new InvalidTokenError('malformed');
    const client = await issuer.clientOf(token);
    if (client === undefined) throw new InvalidTokenError(UNKNOWN);
    past.accepted.set(given, client);
    return verifier.nameOf(client);
  }

  const verifier = {
    issuer,
    past,
    /** Returns what `verify` answers without the issuer. */
    respond: (_token: string): Client | Error | false | undefined => undefined,
    /** Returns the token that it mistakes this one for. */
    take: (token: string): string | Promise<string> => token,
    /** Returns the client that it reports instead of the issuer's. */
    nameOf: (client: Client) => client,
    /** Returns what `verify` rejects with. */
    failed: (error: Error, _token: string) => error,
    verify: (token: string) =>
      verify(token).catch((error: Error) => {
        if (error instanceof TokenVerifierUnavailableError) past.outage = error;
        throw verifier.failed(error, token);
      }),
    async ready() {
      expectOpen();
      await issuer.clientOf('');
    },
    async close() {
      past.closed = true;
    },
  };
  return verifier;
}

/** Opens a verifier whose issuer can fail, and which differs from a correct one. */
export function openVerifier(difference: Difference<CorrectVerifier>): OpenVerifier & Expected {
  const issuer = new SimulatedIssuer();
  const correct = correctVerifier(issuer);
  const verifier = Object.assign(correct, difference({ ...correct }));
  const { failure, lateFailure } = verifier;
  const failing = (fault: SimulatedIssuer['fault']) => async () => {
    issuer.fault = fault;
  };
  return {
    failure,
    lateFailure,
    verifier,
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

/** Checks its issuer only when a token arrives. Rejects the first token after an outage with `error`. */
export const hesitating =
  (error: Error): Difference<CorrectVerifier> =>
  ({ issuer, ready }, failed = false) => ({
    respond() {
      const recovers = failed && issuer.fault === undefined;
      failed = issuer.fault !== undefined;
      return recovers && error;
    },
    ready: () =>
      failed ? Promise.reject(new TokenVerifierUnavailableError('no token has arrived')) : ready(),
  });

/** Verifiers that keep every promise in a different way. The cases of the other faults are made by the same function. */
export const verifierVariants: Readonly<Record<string, Variant<CorrectVerifier>>> = {
  'hesitates after an outage': {
    differs: hesitating(new TokenVerifierUnavailableError('not yet')),
    after: ['outage'],
  },
  'bridges outages, because it does not ask its issuer': {
    differs: () => correctVerifier(new SimulatedIssuer()),
    after: ['outage'],
  },
};
