import { createHash } from 'node:crypto';
import {
  authenticatedClient,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { EXPIRED, PASSWORD, type SimulatedIssuer, TOKENS, VISITOR } from './correct-verifier.js';

/** A verifier that breaks one promise, and the titles of the cases that must fail. */
export interface BrokenVerifier {
  readonly caughtBy: string | readonly string[];
  /** The methods that differ from those of the correct verifier. */
  breaks?(correct: TokenVerifier, issuer: SimulatedIssuer): Partial<TokenVerifier>;
}

const reading = (read: (token: string) => string) => (correct: TokenVerifier) => ({
  verify: (token: string) => correct.verify(read(token)),
});

const replacing = (error: (token: string) => Error) => (correct: TokenVerifier) => ({
  verify: (token: string) =>
    correct.verify(token).catch((reason: unknown) => {
      throw reason instanceof InvalidTokenError ? error(token) : reason;
    }),
});

/** The verifiers that break a promise while no fault occurs. */
const brokenWithoutFaults: Record<string, BrokenVerifier> = {
  'accepts every token': {
    caughtBy: 'refuses text that is not a token',
    breaks: (correct) => ({
      verify: (token) => correct.verify(token).catch(() => correct.verify(TOKENS.visitor)),
    }),
  },
  'gives every client every permission': {
    caughtBy: 'accepts a valid token and returns the client that it was issued to',
    breaks: (correct) => ({
      async verify(token) {
        return authenticatedClient((await correct.verify(token)).name, ['create plants']);
      },
    }),
  },
  'accepts a token only once': {
    caughtBy: 'accepts a valid token repeatedly',
    breaks: (correct) => {
      const used = new Set<string>();
      return {
        async verify(token) {
          if (used.has(token)) throw new InvalidTokenError('used');
          used.add(token);
          return correct.verify(token);
        },
      };
    },
  },
  'resolves a check with the client of the latest one': {
    caughtBy: 'distinguishes the clients of 20 concurrent checks',
    breaks: (correct) => {
      let latest = '';
      return {
        async verify(token) {
          latest = token;
          await Promise.resolve();
          return correct.verify(latest);
        },
      };
    },
  },
  'names clients by their tokens': {
    caughtBy: 'names clients by 1 to 128 printable characters that are not the token',
    breaks: (correct) => ({
      async verify(token) {
        return authenticatedClient(token, (await correct.verify(token)).permissions);
      },
    }),
  },
  'accepts an expired token': {
    caughtBy: 'refuses tokens of its own kind that are not valid',
    breaks: reading((token) => (token === EXPIRED ? TOKENS.gardener : token)),
  },
  'trims tokens': {
    caughtBy: 'refuses an altered token, also after it has accepted the original',
    breaks: reading((token) => token.trim()),
  },
  'ends tokens at U+0000': {
    caughtBy: 'refuses an altered token, also after it has accepted the original',
    breaks: reading((token) => token.split('\0')[0] ?? ''),
  },
  'compares the beginning only': {
    caughtBy: 'refuses an altered token, also after it has accepted the original',
    breaks: reading((token) => token.slice(0, TOKENS.gardener.length)),
  },
  'reports an invalid token as an outage': {
    caughtBy: 'refuses an invalid token every time, also among concurrent valid ones',
    breaks: replacing(() => new TokenVerifierUnavailableError('unknown')),
  },
  'repeats the token in its error': {
    caughtBy: 'reveals no part of a token, and no other secret, in its errors',
    breaks: replacing((token) => new InvalidTokenError(`${token} is not known`)),
  },
  'hides the token in the cause of its error': {
    caughtBy: 'reveals no part of a token, and no other secret, in its errors',
    breaks: replacing((token) => new InvalidTokenError('unknown', { cause: { deep: { token } } })),
  },
  'is never ready': {
    caughtBy: 'is ready when it is open',
    breaks: () => ({ ready: () => Promise.reject(new TokenVerifierUnavailableError('never')) }),
  },
  'cannot be closed again later': {
    caughtBy: 'can be closed more than once',
    breaks: (correct) => {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error('closed already');
          await correct.close();
          isClosed = true;
        },
      };
    },
  },
  'cannot be closed twice': {
    caughtBy: 'can be closed more than once',
    breaks: (correct) => {
      let closings = 0;
      return {
        async close() {
          closings += 1;
          if (closings > 1) throw new Error('closed already');
          await correct.close();
        },
      };
    },
  },
  'still works after close': {
    caughtBy: 'reports after close that it is unavailable, not that a token is invalid',
    breaks: () => ({ async close() {} }),
  },
};

/** Makes a verifier that rejects with changed errors in an outage. */
const failing =
  (change: (error: Error, token?: string) => Error) =>
  (correct: TokenVerifier): Partial<TokenVerifier> => {
    const changed = (token?: string) => (error: Error) => {
      throw error instanceof TokenVerifierUnavailableError ? change(error, token) : error;
    };
    return {
      verify: (token) => correct.verify(token).catch(changed(token)),
      ready: () => correct.ready().catch(changed()),
    };
  };

const digestOf = (token = '', algorithm = 'sha256') => createHash(algorithm).update(token);

/** The verifiers that break a promise when their dependency fails. */
const brokenUnderFaults: Record<string, BrokenVerifier> = {
  'reports an outage as an invalid token': {
    caughtBy: [
      'does not misjudge a token when what it depends on cannot be reached',
      'does not misjudge a token when what it depends on does not respond',
      'does not misjudge a token when what it depends on responds with an unexpected page',
    ],
    breaks: (correct) => ({
      verify: (token) =>
        correct.verify(token).catch(() => {
          throw new InvalidTokenError('it was not accepted');
        }),
    }),
  },
  'accepts every token during an outage': {
    caughtBy: 'does not misjudge a token when what it depends on cannot be reached',
    breaks: (correct) => ({
      verify: (token) =>
        correct.verify(token).catch((error: unknown) => {
          if (error instanceof TokenVerifierUnavailableError) return VISITOR;
          throw error;
        }),
    }),
  },
  'is ready, but accepts nothing, during an outage': {
    caughtBy: 'does not misjudge a token when what it depends on cannot be reached',
    breaks: () => ({ async ready() {} }),
  },
  'reports an outage as a bug': {
    caughtBy: 'does not misjudge a token when what it depends on responds with an unexpected page',
    breaks: failing(() => new SyntaxError('unexpected token')),
  },
  'waits for a response without a limit': {
    caughtBy: 'does not misjudge a token when what it depends on does not respond',
    breaks: (correct, issuer) => ({
      verify: (token) =>
        issuer.fault === 'silent' ? new Promise(() => {}) : correct.verify(token),
    }),
  },
  'accepts no more tokens after an outage': {
    caughtBy: [
      'recovers without a restart when what it depends on can be reached again',
      'recovers without a restart when what it depends on responds again',
      'recovers without a restart when what it depends on responds as before',
    ],
    breaks(correct) {
      let failed: Error | undefined;
      return {
        async verify(token) {
          if (failed) throw failed;
          return correct.verify(token).catch((error: Error) => {
            if (error instanceof TokenVerifierUnavailableError) failed = error;
            throw error;
          });
        },
      };
    },
  },
  'names a token by its digest in the error of an outage': {
    caughtBy:
      'reveals no part of a token, and no other secret, in its errors when what it depends on cannot be reached',
    breaks: failing((_, token) => {
      const cause = new AggregateError([new Error(`GET token:${digestOf(token).digest('hex')}`)]);
      return new TokenVerifierUnavailableError('not reachable', { cause });
    }),
  },
  'carries another digest of a token as bytes': {
    caughtBy:
      'reveals no part of a token, and no other secret, in its errors when what it depends on does not respond',
    breaks: failing((error, token) => {
      const key = Buffer.from(digestOf(token, 'sha1').digest('base64url'));
      return Object.assign(error, { command: { arguments: [key] } });
    }),
  },
  'quotes the unexpected page in its error': {
    caughtBy:
      'reveals no part of a token, and no other secret, in its errors when what it depends on responds with an unexpected page',
    breaks: failing((_, token) => {
      const cause = new SyntaxError(`Unexpected token '<', "${token?.slice(0, 10)}"...`);
      return new TokenVerifierUnavailableError('no response about the token', { cause });
    }),
  },
  'shows its password in the error of ready': {
    caughtBy:
      'reveals no part of a token, and no other secret, in its errors when what it depends on cannot be reached',
    breaks: (correct) => ({
      ready: () =>
        correct.ready().catch((error: Error) => {
          const authorization = `Basic ${Buffer.from(PASSWORD).toString('base64')}`;
          throw Object.defineProperty(error, 'request', { value: new Map([[authorization, 1]]) });
        }),
    }),
  },
  'repeats the token when it is closed': {
    caughtBy: 'reveals no part of a token, and no other secret, in its errors',
    breaks: failing((_, token) => new TokenVerifierUnavailableError(`${token}: closed`)),
  },
};

/** All broken verifiers, by their defect. */
export const brokenVerifiers: Readonly<Record<string, BrokenVerifier>> = {
  ...brokenWithoutFaults,
  ...brokenUnderFaults,
};
