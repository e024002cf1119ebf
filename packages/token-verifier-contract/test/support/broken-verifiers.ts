import { createHash } from 'node:crypto';
import {
  authenticatedClient,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { EXPIRED, PASSWORD, type SimulatedIssuer, TOKENS, VISITOR } from './sound-verifier.js';

/** A verifier that breaks one promise, and the titles of the cases that must notice. */
export interface BrokenVerifier {
  readonly caughtBy: string | readonly string[];
  /** What it does otherwise than the sound verifier. */
  breaks?(sound: TokenVerifier, issuer: SimulatedIssuer): Partial<TokenVerifier>;
}

const reading = (read: (token: string) => string) => (sound: TokenVerifier) => ({
  verify: (token: string) => sound.verify(read(token)),
});

const replacing = (error: (token: string) => Error) => (sound: TokenVerifier) => ({
  verify: (token: string) =>
    sound.verify(token).catch((reason: unknown) => {
      throw reason instanceof InvalidTokenError ? error(token) : reason;
    }),
});

/** Those that break a promise while nothing fails. */
const carelessVerifiers: Record<string, BrokenVerifier> = {
  'lets everybody in': {
    caughtBy: 'refuses what is not a token at all',
    breaks: (sound) => ({
      verify: (token) => sound.verify(token).catch(() => sound.verify(TOKENS.visitor)),
    }),
  },
  'gives every client every permission': {
    caughtBy: 'accepts a valid token as the client it was given to',
    breaks: (sound) => ({
      async verify(token) {
        return authenticatedClient((await sound.verify(token)).name, ['create plants']);
      },
    }),
  },
  'accepts a token only once': {
    caughtBy: 'accepts a valid token again and again',
    breaks: (sound) => {
      const used = new Set<string>();
      return {
        async verify(token) {
          if (used.has(token)) throw new InvalidTokenError('used');
          used.add(token);
          return sound.verify(token);
        },
      };
    },
  },
  'resolves a check with the client of the latest one': {
    caughtBy: 'distinguishes the clients of 20 concurrent checks',
    breaks: (sound) => {
      let latest = '';
      return {
        async verify(token) {
          latest = token;
          await Promise.resolve();
          return sound.verify(latest);
        },
      };
    },
  },
  'names clients by their tokens': {
    caughtBy: 'names clients by 1 to 128 printable characters that are not the token',
    breaks: (sound) => ({
      async verify(token) {
        return authenticatedClient(token, (await sound.verify(token)).permissions);
      },
    }),
  },
  'accepts an expired token': {
    caughtBy: 'refuses tokens of its own kind that are not valid',
    breaks: reading((token) => (token === EXPIRED ? TOKENS.gardener : token)),
  },
  'trims tokens': {
    caughtBy: 'refuses a valid token that was altered, also after it has accepted the true one',
    breaks: reading((token) => token.trim()),
  },
  'ends tokens at U+0000': {
    caughtBy: 'refuses a valid token that was altered, also after it has accepted the true one',
    breaks: reading((token) => token.split('\0')[0] ?? ''),
  },
  'compares the beginning only': {
    caughtBy: 'refuses a valid token that was altered, also after it has accepted the true one',
    breaks: reading((token) => token.slice(0, TOKENS.gardener.length)),
  },
  'calls an invalid token an outage': {
    caughtBy: 'refuses an invalid token every time, also beside valid ones',
    breaks: replacing(() => new TokenVerifierUnavailableError('unknown')),
  },
  'repeats the token in its error': {
    caughtBy: 'shows nothing of a token, and no other secret, in its errors',
    breaks: replacing((token) => new InvalidTokenError(`${token} is not known`)),
  },
  'hides the token in the cause of its error': {
    caughtBy: 'shows nothing of a token, and no other secret, in its errors',
    breaks: replacing((token) => new InvalidTokenError('unknown', { cause: { deep: { token } } })),
  },
  'is never ready': {
    caughtBy: 'is ready when it is open',
    breaks: () => ({ ready: () => Promise.reject(new TokenVerifierUnavailableError('never')) }),
  },
  'cannot be closed twice': {
    caughtBy: 'closes twice as well as once',
    breaks: (sound) => {
      let closings = 0;
      return {
        async close() {
          closings += 1;
          if (closings > 1) throw new Error('closed already');
          await sound.close();
        },
      };
    },
  },
  'goes on after close': {
    caughtBy: 'reports after close that it is unavailable, not that a token is invalid',
    breaks: () => ({ async close() {} }),
  },
};

/** Replaces the errors about outages. */
const failing =
  (change: (error: Error, token?: string) => Error) =>
  (sound: TokenVerifier): Partial<TokenVerifier> => {
    const changed = (token?: string) => (error: Error) => {
      throw error instanceof TokenVerifierUnavailableError ? change(error, token) : error;
    };
    return {
      verify: (token) => sound.verify(token).catch(changed(token)),
      ready: () => sound.ready().catch(changed()),
    };
  };

const digestOf = (token = '', algorithm = 'sha256') => createHash(algorithm).update(token);

/** Those that break a promise about faults of what they depend on. */
const dishonestVerifiers: Record<string, BrokenVerifier> = {
  'reports an outage as an invalid token': {
    caughtBy: [
      'neither accepts nor refuses a token wrongly when what it depends on cannot be reached',
      'neither accepts nor refuses a token wrongly when what it depends on does not respond',
      'neither accepts nor refuses a token wrongly when what it depends on responds with a page',
    ],
    breaks: (sound) => ({
      verify: (token) =>
        sound.verify(token).catch(() => {
          throw new InvalidTokenError('it was not accepted');
        }),
    }),
  },
  'lets everybody in during an outage': {
    caughtBy:
      'neither accepts nor refuses a token wrongly when what it depends on cannot be reached',
    breaks: (sound) => ({
      verify: (token) =>
        sound.verify(token).catch((error: unknown) => {
          if (error instanceof TokenVerifierUnavailableError) return VISITOR;
          throw error;
        }),
    }),
  },
  'is ready, but accepts nothing, during an outage': {
    caughtBy:
      'neither accepts nor refuses a token wrongly when what it depends on cannot be reached',
    breaks: () => ({ async ready() {} }),
  },
  'takes an outage for a bug': {
    caughtBy:
      'neither accepts nor refuses a token wrongly when what it depends on responds with a page',
    breaks: failing(() => new SyntaxError('unexpected token')),
  },
  'waits for a response however long that takes': {
    caughtBy:
      'neither accepts nor refuses a token wrongly when what it depends on does not respond',
    breaks: (sound, issuer) => ({
      verify: (token) => (issuer.fault === 'silent' ? new Promise(() => {}) : sound.verify(token)),
    }),
  },
  'accepts no token any more after an outage': {
    caughtBy: [
      'recovers without a restart when what it depends on can be reached again',
      'recovers without a restart when what it depends on responds again',
      'recovers without a restart when what it depends on responds as before',
    ],
    breaks(sound) {
      let failed: Error | undefined;
      return {
        async verify(token) {
          if (failed) throw failed;
          return sound.verify(token).catch((error: Error) => {
            if (error instanceof TokenVerifierUnavailableError) failed = error;
            throw error;
          });
        },
      };
    },
  },
  'names a token by its digest in the error of an outage': {
    caughtBy:
      'shows nothing of a token, and no other secret, in its errors when what it depends on cannot be reached',
    breaks: failing((_, token) => {
      const cause = new AggregateError([new Error(`GET token:${digestOf(token).digest('hex')}`)]);
      return new TokenVerifierUnavailableError('not reachable', { cause });
    }),
  },
  'carries another digest of a token as bytes': {
    caughtBy:
      'shows nothing of a token, and no other secret, in its errors when what it depends on does not respond',
    breaks: failing((error, token) => {
      const key = Buffer.from(digestOf(token, 'sha1').digest('base64url'));
      return Object.assign(error, { command: { arguments: [key] } });
    }),
  },
  'quotes the page that it did not expect': {
    caughtBy:
      'shows nothing of a token, and no other secret, in its errors when what it depends on responds with a page',
    breaks: failing((_, token) => {
      const cause = new SyntaxError(`Unexpected token '<', "${token?.slice(0, 10)}"...`);
      return new TokenVerifierUnavailableError('no response about the token', { cause });
    }),
  },
  'shows its password in the error of ready': {
    caughtBy:
      'shows nothing of a token, and no other secret, in its errors when what it depends on cannot be reached',
    breaks: (sound) => ({
      ready: () =>
        sound.ready().catch((error: Error) => {
          const authorization = `Basic ${Buffer.from(PASSWORD).toString('base64')}`;
          throw Object.defineProperty(error, 'request', { value: new Map([[authorization, 1]]) });
        }),
    }),
  },
  'repeats the token when it is closed': {
    caughtBy: 'shows nothing of a token, and no other secret, in its errors',
    breaks: failing((_, token) => new TokenVerifierUnavailableError(`${token}: closed`)),
  },
};

/** Every broken verifier, by what is wrong with it. */
export const brokenVerifiers: Readonly<Record<string, BrokenVerifier>> = {
  ...carelessVerifiers,
  ...dishonestVerifiers,
};
