import { createHash } from 'node:crypto';
import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { Liars } from '@plant-store/liars';
import { type Difference, EXPIRED, GARDENER, hesitating, PASSWORD } from './honest-verifier.js';

/** A difference that breaks a sentence, with a part of the failure that shows it. */
type Lie = (
  ...given: Parameters<Difference>
) => ReturnType<Difference> & { readonly failure: string };

/** What a verifier may take for the token of the gardener, and what that is called in the failure. */
const FOREIGN: Readonly<Record<string, string>> = {
  'the empty string': '',
  'a space': ' ',
  'a dot': '.',
  'two dots': '..',
  'a word': 'token',
  'U+0000': '\u0000',
  'a lone surrogate': '\uD800',
  'a name of JavaScript itself': '__proto__',
  '100,000 characters': 'a'.repeat(100_000),
  '100,000 dots': '.'.repeat(100_000),
};
const ALTERED: Readonly<Record<string, string>> = {
  'a token without its first character': GARDENER.slice(1),
  'a token without its last ten characters': GARDENER.slice(0, -10),
  'a token with a character more': `${GARDENER}A`,
  'a token after a space': ` ${GARDENER}`,
  'a token before a line feed': `${GARDENER}\n`,
  'a token before U+0000': `${GARDENER}\u0000`,
  'a token twice over': `${GARDENER}${GARDENER}`,
  'a token with another character in the middle': `${GARDENER.slice(0, 19)}A${GARDENER.slice(20)}`,
};

/** Names that no client may have: two are the token of one, and a part of it. */
const NAMES = [
  ...['', 'x'.repeat(129), 'a\nb', 'a\u0000b', 'a\uD800b', 'a\u200Eb'],
  ...[GARDENER, 'that-was-given-to-the'],
];

/** Verifiers that accept each of some tokens as that of the gardener, once that was verified, or always. */
const accepting = (tokens: Readonly<Record<string, string>>, isAlways: boolean) =>
  Object.fromEntries(
    Object.entries(tokens).map(([what, accepted]): [string, Lie] => [
      `accepts ${what}`,
      ({ verify }, _, known = new Set(isAlways ? [GARDENER] : [])) => ({
        failure: `${what}: expected InvalidTokenError, got the client "gardener"`,
        verify: (token) =>
          verify(known.add(token).has(GARDENER) && token === accepted ? GARDENER : token),
      }),
    ]),
  );

/** A verifier whose `verify` rejects with another error than one of this kind. */
const failing =
  (
    failure: string,
    change: (token: string) => Error,
    kind: new (message: string) => Error = TokenVerifierUnavailableError,
  ): Lie =>
  ({ verify }) => ({
    failure,
    verify: (token) =>
      verify(token).catch((error: Error) => {
        throw error instanceof kind ? change(token) : error;
      }),
  });

const digestOf = (token: string) => createHash('sha256').update(token).digest('hex');

const inEveryFault: Record<string, Lie> = {
  'reports an outage as an invalid token': failing(
    'the token of "gardener": expected TokenVerifierUnavailableError, got InvalidTokenE',
    () => new InvalidTokenError('it was not accepted'),
  ),
  'reports a malformed token as an outage once it has no fresh keys': ({ verify }, issuer) => ({
    failure: 'the empty string: expected InvalidTokenError, got TokenVerifierUnavailableError',
    async verify(token) {
      if (issuer.fault !== undefined) throw new TokenVerifierUnavailableError('no keys');
      return verify(token);
    },
  }),
};

const failingForGood: Record<string, Lie> = {
  'accepts no more tokens after an outage'({ verify }) {
    let failure: Error | undefined;
    return {
      failure: 'the token of "gardener": expected the client "gardener" with the permissions',
      async verify(token) {
        if (failure !== undefined) throw failure;
        return verify(token).catch((error: Error) => {
          if (error instanceof TokenVerifierUnavailableError) failure = error;
          throw error;
        });
      },
    };
  },
};

/** All lies by the case that catches them. */
export const liars: Liars<Lie> = {
  'refuses text that is not a token': accepting(FOREIGN, true),
  'refuses an altered token after it has accepted the original': accepting(ALTERED, false),
  'accepts valid tokens, repeatedly and concurrently, each as the client that it was issued to': {
    'gives every client every permission': ({ verify }) => ({
      failure: 'the token of "visitor": expected the client "visitor" with the permissions [], got',
      verify: async (token) => authenticatedClient((await verify(token)).name, ['create plants']),
    }),
    'gives every client one name': ({ verify }) => ({
      failure: 'the permissions [create plants], got the client "client"',
      verify: async (token) => authenticatedClient('client', (await verify(token)).permissions),
    }),
    'accepts a token only once': ({ verify }, _, used = new Set<string>()) => ({
      failure: 'the permissions [create plants], got InvalidTokenError: used',
      async verify(token) {
        if (used.has(token)) throw new InvalidTokenError('used');
        used.add(token);
        return verify(token);
      },
    }),
    'resolves a check with the client of the latest one'({ verify }) {
      let latest = '';
      return {
        failure: 'the token of "gardener": expected the client "gardener"',
        async verify(token) {
          latest = token;
          await Promise.resolve();
          return verify(latest);
        },
      };
    },
  },
  'names clients by 1 to 128 printable characters that are not the token': Object.fromEntries(
    NAMES.map((name): [string, Lie] => [
      `names a client ${JSON.stringify(name).slice(0, 20)}`,
      () => ({
        failure: 'the name of',
        verify: async () => authenticatedClient(name, []),
      }),
    ]),
  ),
  'refuses invalid tokens of its own kind every time, also among concurrent valid ones': {
    'accepts an expired token': ({ verify }) => ({
      failure: 'an expired token: expected InvalidTokenError, got the client "gardener"',
      verify: (token) => verify(token === EXPIRED ? GARDENER : token),
    }),
    'reports an invalid token as an outage': failing(
      'an expired token: expected InvalidTokenError, got TokenVerifierUnavailableError',
      () => new TokenVerifierUnavailableError('unknown'),
      InvalidTokenError,
    ),
  },
  'reveals no part of a token, and no other secret, in its errors': {
    'hides the token in the cause of its error': failing(
      'the error.cause.deep.token reveals',
      (token) => new InvalidTokenError('unknown', { cause: { deep: { token } } }),
      InvalidTokenError,
    ),
    'repeats the token when it is closed': failing(
      'the error.message reveals "a-token."',
      (token) => new TokenVerifierUnavailableError(`${token}: closed`),
    ),
  },
  'is ready when it is open, and can be closed more than once': {
    'is never ready': () => ({
      failure: 'ready: expected it to resolve; it was rejected',
      ready: () => Promise.reject(new TokenVerifierUnavailableError('never')),
    }),
    'cannot be closed more than once'({ close }) {
      let isClosed = false;
      return {
        failure: 'closed already',
        async close() {
          if (isClosed) throw new Error('closed already');
          isClosed = true;
          await close();
        },
      };
    },
  },
  'reports after close that it is unavailable, not that a token is invalid': {
    'still works after close': () => ({
      failure: 'a token after close: expected TokenVerifierUnavailableError, got the client',
      async close() {},
    }),
    'is ready after close': () => ({
      failure: 'ready after close: expected it to be rejected; it resolved',
      async ready() {},
    }),
    'accepts after close what it has accepted before': (
      { verify },
      _,
      cached = new Map<string, Client>(),
    ) => ({
      failure: 'a token after close: expected TokenVerifierUnavailableError, got the client',
      async verify(token) {
        const client = cached.get(token) ?? (await verify(token));
        cached.set(token, client);
        return client;
      },
    }),
    'refuses every token after close': failing(
      'a token after close: expected TokenVerifierUnavailableError, got InvalidTokenError',
      () => new InvalidTokenError('unknown'),
    ),
  },
  'does not misjudge a token when what it depends on cannot be reached': {
    ...inEveryFault,
    'accepts an expired token during an outage': ({ verify }, issuer) => ({
      failure: 'an expired token: expected that it is not accepted, got the client "cached"',
      verify: async (token) =>
        token === EXPIRED && issuer.fault !== undefined
          ? authenticatedClient('cached', [])
          : verify(token),
    }),
    'is ready, but accepts nothing, during an outage': () => ({
      failure: 'the permissions [create plants], got TokenVerifierUnavailableError: no response',
      async ready() {},
    }),
    'refuses during an outage what it has accepted before': (
      { verify },
      issuer,
      known = new Set<string>(),
    ) => ({
      failure: 'the token of "gardener": expected TokenVerifierUnavailableError, got InvalidToken',
      async verify(token) {
        if (issuer.fault !== undefined && known.has(token)) throw new InvalidTokenError('old');
        known.add(token);
        return verify(token);
      },
    }),
    'refuses texts that no issuer can have issued, but no others, once it has no fresh keys': (
      { verify },
      issuer,
    ) => ({
      failure: 'a dot: expected InvalidTokenError, got TokenVerifierUnavailableError: no response',
      async verify(token) {
        if (issuer.fault !== undefined && /^[\w.-]+$/.test(token)) await issuer.clientOf(token);
        return verify(token);
      },
    }),
  },
  'does not misjudge a token when what it depends on does not respond': {
    ...inEveryFault,
    'waits for a response without a limit': ({ verify }, issuer) => ({
      failure: 'has not settled 2000 ms after its limit of 2000 ms',
      hangs: true,
      verify: (token) => (issuer.fault === 'silent' ? new Promise(() => {}) : verify(token)),
    }),
  },
  'does not misjudge a token when what it depends on responds with an unexpected page': {
    ...inEveryFault,
    'reports an outage as a bug': failing(
      'rejected with an error that is not of the port: SyntaxError: unexpected token',
      () => new SyntaxError('unexpected token'),
    ),
    'reports an outage as a bug when it is asked whether it is ready': ({ ready }) => ({
      failure: 'ready was rejected with an error that is not of the port: SyntaxError',
      ready: () => ready().catch(() => Promise.reject(new SyntaxError('unexpected token'))),
    }),
  },
  'reveals no secret when what it depends on cannot be reached, and recovers without a restart': {
    ...failingForGood,
    'refuses no more tokens after an outage'({ verify }, issuer) {
      let failed = false;
      return {
        failure: 'an expired token: expected InvalidTokenError, got the client "gardener"',
        async verify(token) {
          failed ||= issuer.fault !== undefined;
          return verify(failed && token === EXPIRED ? GARDENER : token);
        },
      };
    },
    'refuses a valid token before it is ready again': (...given) => ({
      ...hesitating(new InvalidTokenError('unknown'))(...given),
      failure:
        'after the fault: expected the client, or TokenVerifierUnavailableError, got Invalid',
    }),
    'names a token by its digest in the error of an outage': failing(
      `the error.cause.errors.0.message reveals "${digestOf(GARDENER)}"`,
      (token) => {
        const cause = new AggregateError([new Error(`GET token:${digestOf(token)}`)]);
        return new TokenVerifierUnavailableError('not reachable', { cause });
      },
    ),
    'shows its password in the error of ready': ({ ready }) => ({
      failure: 'the error.request, an entry.0 reveals',
      ready: () =>
        ready().catch((error: Error) => {
          const authorization = `Basic ${Buffer.from(PASSWORD).toString('base64')}`;
          throw Object.defineProperty(error, 'request', { value: new Map([[authorization, 1]]) });
        }),
    }),
  },
  'reveals no secret when what it depends on does not respond, and recovers without a restart':
    failingForGood,
  'reveals no secret when what it depends on responds with an unexpected page, and recovers without a restart':
    {
      ...failingForGood,
      'quotes the unexpected page in its error': failing(
        'the error.cause.message reveals "a-token."',
        (token) => {
          const cause = new SyntaxError(`Unexpected token '<', "${token.slice(0, 8)}"...`);
          return new TokenVerifierUnavailableError('no response about the token', { cause });
        },
      ),
    },
};
