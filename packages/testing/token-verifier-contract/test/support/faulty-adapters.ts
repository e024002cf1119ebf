import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import {
  type CorrectVerifier,
  EXPIRED,
  GARDENER,
  hesitating,
  PASSWORD,
} from './correct-verifier.js';

/** What a verifier may mistake for the gardener's token, by its name in the failure. */
const FOREIGN: Readonly<Record<string, string>> = {
  'the empty string': '',
  '100,000 characters': 'a'.repeat(100_000),
};
const ALTERED: Readonly<Record<string, string>> = {
  'a token without its first character': GARDENER.slice(1),
  'a token before a line feed': `${GARDENER}\n`,
  'a token with another character in the middle': `${GARDENER.slice(0, 19)}A${GARDENER.slice(20)}`,
};

/** Names that no client may have; the last two are its token, and a part of it. */
const NAMES = ['', 'x'.repeat(129), 'a\nb', 'a\uD800b', GARDENER, 'that-was-given-to-the'];

/** Verifiers that accept each of these tokens as the gardener's while `accepts` is true. */
const accepting = (
  tokens: Readonly<Record<string, string>>,
  accepts: (past: CorrectVerifier['past']) => boolean,
) =>
  Object.fromEntries(
    Object.entries(tokens).map(([what, accepted]): [string, Defect<CorrectVerifier>] => [
      `accepts ${what}`,
      ({ past }) => ({
        failure: `${what}: expected InvalidTokenError, got the client "gardener"`,
        take: (token) => (token === accepted && accepts(past) ? GARDENER : token),
      }),
    ]),
  );

const inEveryFault: Readonly<Record<string, Defect<CorrectVerifier>>> = {
  'reports an outage as an invalid token': () => ({
    failure: 'the token of "gardener": expected TokenVerifierUnavailableError, got InvalidTokenE',
    failed: () => new InvalidTokenError('it was not accepted'),
  }),
  'reports a malformed token as an outage when it has no fresh keys': ({ issuer }) => ({
    failure: 'the empty string: expected InvalidTokenError, got TokenVerifierUnavailableError',
    respond: () => issuer.fault && new TokenVerifierUnavailableError('no keys'),
  }),
};

const failingForGood: Defect<CorrectVerifier> = ({ past }) => ({
  failure: 'the token of "gardener": expected the client "gardener" with the permissions',
  respond: () => past.outage,
});

/** All defects, by the case that catches them. */
export const faultyAdapters: FaultyAdapters<CorrectVerifier> = {
  'refuses text that is not a token': accepting(FOREIGN, () => true),
  'refuses an altered token even after accepting the original': accepting(ALTERED, (past) =>
    past.accepted.has(GARDENER),
  ),
  'accepts valid tokens repeatedly and concurrently, each as its own client': {
    'gives every client every permission': () => ({
      failure: 'the token of "visitor": expected the client "visitor" with the permissions [], got',
      nameOf: ({ name }) => ({ name, permissions: new Set(['create plants']) }),
    }),
    'gives every client one name': () => ({
      failure: 'the permissions [create plants], got the client "client"',
      nameOf: ({ permissions }) => ({ name: 'client', permissions: new Set(permissions) }),
    }),
    'accepts a token only once': ({ past }) => ({
      failure: 'the permissions [create plants], got InvalidTokenError: used',
      respond: (token) => past.accepted.has(token) && new InvalidTokenError('used'),
    }),
    'resolves a check with the client of the latest one': ({ past }) => ({
      failure: 'the token of "gardener": expected the client "gardener"',
      take: () => Promise.resolve().then(() => past.latest),
    }),
  },
  'names clients in 1 to 128 printable characters, without revealing the token': Object.fromEntries(
    NAMES.map((name): [string, Defect<CorrectVerifier>] => [
      `names a client ${JSON.stringify(name).slice(0, 20)}`,
      () => ({ failure: 'the name of', nameOf: () => ({ name, permissions: new Set() }) }),
    ]),
  ),
  'always refuses invalid tokens, even among concurrent valid ones': {
    'accepts an expired token': () => ({
      failure: 'an expired token: expected InvalidTokenError, got the client "gardener"',
      take: (token) => (token === EXPIRED ? GARDENER : token),
    }),
  },
  'reveals no token or other secret in its errors': {
    'hides the token in the cause of its error': () => ({
      failure: 'the error.cause.deep.token reveals',
      failed: (_, token) => new InvalidTokenError('unknown', { cause: { deep: { token } } }),
    }),
    'repeats the token when it is closed': ({ past }) => ({
      failure: 'the error.message reveals "a-token."',
      failed: (error, token) =>
        past.closed ? new TokenVerifierUnavailableError(`${token}: closed`) : error,
    }),
  },
  'is ready when open, and can be closed more than once': {
    'is never ready': () => ({
      failure: 'ready: expected it to resolve; it was rejected',
      ready: () => Promise.reject(new TokenVerifierUnavailableError('never')),
    }),
    'cannot be closed more than once': ({ close, past }) => ({
      failure: 'closed already',
      close: () => (past.closed ? Promise.reject(new Error('closed already')) : close()),
    }),
  },
  'reports itself as unavailable after close, rather than tokens as invalid': {
    'is ready after close': () => ({
      failure: 'ready after close: expected it to be rejected; it resolved',
      async ready() {},
    }),
    'accepts after close what it has accepted before': ({ past }) => ({
      failure: 'a token after close: expected TokenVerifierUnavailableError, got the client',
      respond: (token) => past.accepted.get(token),
    }),
  },
  'never accepts or refuses a token wrongly when its dependency cannot be reached': {
    ...inEveryFault,
    'accepts an expired token during an outage': ({ issuer }) => ({
      failure: 'an expired token: expected that it is not accepted, got the client "cached"',
      respond: (token) =>
        token === EXPIRED &&
        issuer.fault !== undefined && { name: 'cached', permissions: new Set() },
    }),
    'is ready, but accepts nothing, during an outage': () => ({
      failure: 'the permissions [create plants], got TokenVerifierUnavailableError: no response',
      async ready() {},
    }),
  },
  'never accepts or refuses a token wrongly when its dependency does not respond': {
    ...inEveryFault,
    'waits for a response without a limit': ({ issuer }) => ({
      lateFailure: 'has not settled 2000 ms after its limit of 2000 ms',
      take: (token) => (issuer.fault === 'silent' ? new Promise(() => {}) : token),
    }),
  },
  'never accepts or refuses a token wrongly when its dependency sends an unexpected page': {
    ...inEveryFault,
    'reports an outage as a bug': ({ issuer }) => ({
      failure: 'rejected with an error that is not of the port: SyntaxError: unexpected token',
      failed: (error) => (issuer.fault ? new SyntaxError('unexpected token') : error),
    }),
    'reports an outage as a bug when it is asked whether it is ready': ({ ready }) => ({
      failure: 'ready was rejected with an error that is not of the port: SyntaxError',
      ready: () => ready().catch(() => Promise.reject(new SyntaxError('unexpected token'))),
    }),
  },
  'reveals no secret and recovers when its dependency cannot be reached': {
    'stops accepting tokens after an outage': failingForGood,
    'stops refusing tokens after an outage': ({ past }) => ({
      failure: 'an expired token: expected InvalidTokenError, got the client "gardener"',
      take: (token) => (past.outage && token === EXPIRED ? GARDENER : token),
    }),
    'refuses a valid token before it is ready again': (correct) => ({
      ...hesitating(new InvalidTokenError('unknown'))(correct),
      failure:
        'after the fault: expected the client, or TokenVerifierUnavailableError, got Invalid',
    }),
    'shows its password in the error of ready': ({ ready }) => ({
      failure: 'the error.request reveals',
      ready: () =>
        ready().catch((error: Error) => {
          throw Object.assign(error, { request: btoa(PASSWORD) });
        }),
    }),
  },
  'reveals no secret and recovers when its dependency does not respond': {
    'stops accepting tokens after an outage': failingForGood,
  },
  'reveals no secret and recovers when its dependency sends an unexpected page': {
    'stops accepting tokens after an outage': failingForGood,
    'quotes the unexpected page in its error': () => ({
      failure: 'the error.cause.message reveals "a-token."',
      failed(_, token) {
        const cause = new SyntaxError(`Unexpected token '<', "${token.slice(0, 8)}"...`);
        return new TokenVerifierUnavailableError('no response about the token', { cause });
      },
    }),
  },
};
