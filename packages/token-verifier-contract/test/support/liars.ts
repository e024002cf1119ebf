import { createHash } from 'node:crypto';
import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { Liar, Liars } from '@plant-store/liars';
import type { OpenVerifier } from '@plant-store/token-verifier-contract';
import {
  EXPIRED,
  hesitating,
  openVerifier,
  PASSWORD,
  type SimulatedIssuer,
  TOKENS,
  VISITOR,
} from './honest-verifier.js';

/** The titles of the cases that catch several. */
const OUTAGE = 'does not misjudge a token when what it depends on cannot be reached';
const STALL = 'does not misjudge a token when what it depends on does not respond';
const MALFUNCTION =
  'does not misjudge a token when what it depends on responds with an unexpected page';
const AFTER_OUTAGE =
  'reveals no secret when what it depends on cannot be reached, and recovers without a restart';
const VALID =
  'accepts valid tokens, repeatedly and concurrently, each as the client that it was issued to';
const AFTER_CLOSE = 'reports after close that it is unavailable, not that a token is invalid';
const SECRETS = 'reveals no part of a token, and no other secret, in its errors';
const CLOSE = 'is ready when it is open, and can be closed more than once';

/** Returns the methods that differ from those of the honest verifier. */
type Breaks = (honest: TokenVerifier, issuer: SimulatedIssuer) => Partial<TokenVerifier>;

type Details = Pick<Liar<OpenVerifier>, 'naming' | 'hangs'>;

/** A verifier that breaks one sentence. */
const lie = (breaks: Breaks, details: Details = {}): Liar<OpenVerifier> => ({
  ...details,
  open: () => openVerifier(breaks),
});

/** A verifier with another `verify`. */
const verifying = (
  verify: (honest: TokenVerifier, issuer: SimulatedIssuer) => TokenVerifier['verify'],
  details?: Details,
) => lie((honest, issuer) => ({ verify: verify(honest, issuer) }), details);

const reading = (read: (token: string) => string) => (honest: TokenVerifier) => ({
  verify: (token: string) => honest.verify(read(token)),
});

const replacing = (error: (token: string) => Error) => (honest: TokenVerifier) => ({
  verify: (token: string) =>
    honest.verify(token).catch((reason: unknown) => {
      throw reason instanceof InvalidTokenError ? error(token) : reason;
    }),
});

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

const GARDENER = TOKENS.gardener;
const ALTERED: Readonly<Record<string, string>> = {
  'without its first character': GARDENER.slice(1),
  'without its last ten characters': GARDENER.slice(0, -10),
  'with a character more': `${GARDENER}A`,
  'after a space': ` ${GARDENER}`,
  'before a line feed': `${GARDENER}\n`,
  'before U+0000': `${GARDENER}\u0000`,
  'twice over': `${GARDENER}${GARDENER}`,
  'with another character in the middle': `${GARDENER.slice(0, 19)}A${GARDENER.slice(20)}`,
};

/** Verifiers that read each of these tokens as that of the gardener. */
const accepting = (tokens: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(tokens).map(([what, accepted]) => [
      `accepts ${what}`,
      lie(
        reading((token) => (token === accepted ? GARDENER : token)),
        { naming: `${what}: expected InvalidTokenError, got` },
      ),
    ]),
  );

/** Verifiers that read each of these tokens as that of the gardener, once that was verified. */
const acceptingLater = (tokens: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(tokens).map(([what, accepted]) => [
      `accepts a token ${what} after it has accepted the original`,
      verifying(
        (honest) => {
          let later = false;
          return (token) => {
            later ||= token === GARDENER;
            return honest.verify(later && token === accepted ? GARDENER : token);
          };
        },
        { naming: `a token ${what}: expected InvalidTokenError, got` },
      ),
    ]),
  );

const namingClients = (names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [
      `names a client ${JSON.stringify(name).slice(0, 20)}`,
      verifying(() => async () => authenticatedClient(name, [])),
    ]),
  );

/** Makes a verifier that rejects with changed errors in an outage. */
const failing =
  (change: (error: Error, token?: string) => Error) =>
  (honest: TokenVerifier): Partial<TokenVerifier> => {
    const changed = (token?: string) => (error: Error) => {
      throw error instanceof TokenVerifierUnavailableError ? change(error, token) : error;
    };
    return {
      verify: (token) => honest.verify(token).catch(changed(token)),
      ready: () => honest.ready().catch(changed()),
    };
  };

const digestOf = (token = '') => createHash('sha256').update(token).digest('hex');

const invalidInOutages = {
  'reports an outage as an invalid token': verifying(
    (honest) => (token) =>
      honest.verify(token).catch(() => {
        throw new InvalidTokenError('it was not accepted');
      }),
  ),
};

const unavailableInOutages = {
  'reports a malformed token as an outage once it has no fresh keys': verifying(
    (honest, issuer) => async (token) => {
      if (issuer.fault !== undefined) throw new TokenVerifierUnavailableError('no keys');
      return honest.verify(token);
    },
  ),
};

const failingForGood = {
  'accepts no more tokens after an outage': verifying((honest) => {
    let failed: Error | undefined;
    return async (token) => {
      const client = await honest.verify(token).catch((error: Error) => {
        if (error instanceof TokenVerifierUnavailableError) failed = error;
        throw error;
      });
      if (failed) throw failed;
      return client;
    };
  }),
};

/** All liars, by what they do, and by the case that catches them. */
export const liars: Liars<OpenVerifier> = {
  'refuses text that is not a token': {
    'accepts every token': verifying(
      (honest) => (token) => honest.verify(token).catch(() => honest.verify(TOKENS.visitor)),
    ),
    ...accepting(FOREIGN),
  },
  [VALID]: {
    'gives every client every permission': verifying((honest) => async (token) => {
      return authenticatedClient((await honest.verify(token)).name, ['create plants']);
    }),
    'gives every client one name': verifying((honest) => async (token) => {
      return authenticatedClient('client', (await honest.verify(token)).permissions);
    }),
    'accepts a token only once': verifying((honest) => {
      const used = new Set<string>();
      return async (token) => {
        if (used.has(token)) throw new InvalidTokenError('used');
        used.add(token);
        return honest.verify(token);
      };
    }),
    'resolves a check with the client of the latest one': verifying((honest) => {
      let latest = '';
      return async (token) => {
        latest = token;
        await Promise.resolve();
        return honest.verify(latest);
      };
    }),
  },
  'names clients by 1 to 128 printable characters that are not the token': {
    'names clients by their tokens': verifying((honest) => async (token) => {
      return authenticatedClient(token, (await honest.verify(token)).permissions);
    }),
    ...namingClients([
      'that-was-given-to-the',
      '',
      'x'.repeat(129),
      'a\nb',
      'a\u0000b',
      'a\uD800b',
      'a\u200Eb',
    ]),
  },
  'refuses invalid tokens of its own kind every time, also among concurrent valid ones': {
    'accepts an expired token': lie(
      reading((token) => (token === EXPIRED ? TOKENS.gardener : token)),
    ),
    'reports an invalid token as an outage': lie(
      replacing(() => new TokenVerifierUnavailableError('unknown')),
    ),
  },
  [SECRETS]: {
    'hides the token in the cause of its error': lie(
      replacing((token) => new InvalidTokenError('unknown', { cause: { deep: { token } } })),
    ),
    'repeats the token when it is closed': lie(
      failing((_, token) => new TokenVerifierUnavailableError(`${token}: closed`)),
    ),
  },
  [CLOSE]: {
    'is never ready': lie(() => ({
      ready: () => Promise.reject(new TokenVerifierUnavailableError('never')),
    })),
    'cannot be closed again later': lie((honest) => {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error('closed already');
          await honest.close();
          isClosed = true;
        },
      };
    }),
    'cannot be closed twice': lie((honest) => {
      let closings = 0;
      return {
        async close() {
          closings += 1;
          if (closings > 1) throw new Error('closed already');
          await honest.close();
        },
      };
    }),
  },
  [AFTER_CLOSE]: {
    'still works after close': lie(() => ({ async close() {} })),
    'is ready after close': lie(() => ({ async ready() {} })),
    'accepts after close what it has accepted before': verifying((honest) => {
      const cached = new Map<string, Client>();
      return async (token) => {
        const client = cached.get(token) ?? (await honest.verify(token));
        cached.set(token, client);
        return client;
      };
    }),
    'refuses every token after close': verifying(
      (honest) => (token) =>
        honest.verify(token).catch((error: Error) => {
          throw error.message === 'closed' ? new InvalidTokenError('unknown') : error;
        }),
    ),
  },
  [OUTAGE]: {
    ...invalidInOutages,
    ...unavailableInOutages,
    'accepts every token during an outage': verifying(
      (honest) => (token) =>
        honest.verify(token).catch((error: unknown) => {
          if (error instanceof TokenVerifierUnavailableError) return VISITOR;
          throw error;
        }),
    ),
    'accepts an expired token during an outage': verifying((honest, issuer) => async (token) => {
      return token === EXPIRED && issuer.fault !== undefined ? VISITOR : honest.verify(token);
    }),
    'is ready, but accepts nothing, during an outage': lie(() => ({ async ready() {} })),
    'refuses during an outage what it has accepted before': verifying((honest, issuer) => {
      const known = new Set<string>();
      return async (token) => {
        if (issuer.fault !== undefined && known.has(token)) throw new InvalidTokenError('old');
        const client = await honest.verify(token);
        known.add(token);
        return client;
      };
    }),
    'refuses texts that no issuer can have issued, but no others, once it has no fresh keys':
      verifying((honest, issuer) => async (token) => {
        if (issuer.fault !== undefined && /^[\w.-]+$/.test(token)) await issuer.clientOf(token);
        return honest.verify(token);
      }),
  },
  [STALL]: {
    ...invalidInOutages,
    ...unavailableInOutages,
    'waits for a response without a limit': verifying(
      (honest, issuer) => (token) =>
        issuer.fault === 'silent' ? new Promise(() => {}) : honest.verify(token),
      { hangs: true, naming: 'has not settled' },
    ),
  },
  [MALFUNCTION]: {
    ...invalidInOutages,
    ...unavailableInOutages,
    'reports an outage as a bug': lie(failing(() => new SyntaxError('unexpected token'))),
    'reports an outage as a bug when it is asked whether it is ready': lie((honest) => ({
      ready: () => honest.ready().catch(() => Promise.reject(new SyntaxError('unexpected token'))),
    })),
  },
  [AFTER_OUTAGE]: {
    ...failingForGood,
    'refuses no more tokens after an outage': verifying((honest, issuer) => {
      let failed = false;
      return async (token) => {
        failed ||= issuer.fault !== undefined;
        return honest.verify(failed && token === EXPIRED ? TOKENS.visitor : token);
      };
    }),
    'refuses a valid token before it is ready again': lie(
      hesitating(new InvalidTokenError('unknown')),
    ),
    'names a token by its digest in the error of an outage': lie(
      failing((_, token) => {
        const cause = new AggregateError([new Error(`GET token:${digestOf(token)}`)]);
        return new TokenVerifierUnavailableError('not reachable', { cause });
      }),
    ),
    'shows its password in the error of ready': lie((honest) => ({
      ready: () =>
        honest.ready().catch((error: Error) => {
          const authorization = `Basic ${Buffer.from(PASSWORD).toString('base64')}`;
          throw Object.defineProperty(error, 'request', { value: new Map([[authorization, 1]]) });
        }),
    })),
  },
  'reveals no secret when what it depends on does not respond, and recovers without a restart': {
    ...failingForGood,
  },
  'reveals no secret when what it depends on responds with an unexpected page, and recovers without a restart':
    {
      ...failingForGood,
      'quotes the unexpected page in its error': lie(
        failing((_, token) => {
          const cause = new SyntaxError(`Unexpected token '<', "${token?.slice(0, 8)}"...`);
          return new TokenVerifierUnavailableError('no response about the token', { cause });
        }),
      ),
    },
  'refuses an altered token after it has accepted the original': {
    ...acceptingLater(ALTERED),
  },
};
