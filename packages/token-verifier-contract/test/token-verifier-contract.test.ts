import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { contractCases, type OpenVerifier } from '@plant-store/token-verifier-contract';
import { expect } from 'chai';

const TOKENS = {
  gardener: 'a-token-that-was-given-to-the-gardener',
  visitor: 'a-token-that-was-given-to-the-visitor',
};
const EXPIRED = 'a-token-of-the-gardener-that-has-expired';

/** A verifier that keeps every promise; each broken one below overrides one method of it. */
function soundVerifier(): TokenVerifier {
  const clients = new Map<string, Client>([
    [TOKENS.gardener, authenticatedClient('gardener', ['create plants'])],
    [TOKENS.visitor, authenticatedClient('visitor', [])],
  ]);
  let closed = false;
  const refuseWhenClosed = () => {
    if (closed) throw new TokenVerifierUnavailableError('closed');
  };
  return {
    async verify(token) {
      refuseWhenClosed();
      const client = clients.get(token);
      if (client === undefined) throw new InvalidTokenError('unknown');
      return client;
    },
    async ready() {
      refuseWhenClosed();
    },
    async close() {
      closed = true;
    },
  };
}

interface BrokenVerifier {
  readonly caughtBy: string;
  breaks?(sound: TokenVerifier): Partial<TokenVerifier>;
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

const brokenVerifiers: Record<string, BrokenVerifier> = {
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
  'answers a check with the client of the latest one': {
    caughtBy: 'tells the clients of 100 concurrent checks apart',
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
    caughtBy: 'shows nothing of a refused token in its error',
    breaks: replacing((token) => new InvalidTokenError(`${token} is not known`)),
  },
  'hides the token in the cause of its error': {
    caughtBy: 'shows nothing of a refused token in its error',
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
    caughtBy: 'after close tells that it is unavailable, not that a token is invalid',
    breaks: () => ({ async close() {} }),
  },
};

function open(broken: BrokenVerifier = { caughtBy: '' }): OpenVerifier {
  const sound = soundVerifier();
  return {
    verifier: { ...sound, ...broken.breaks?.(sound) },
    accepted: [
      { token: TOKENS.gardener, name: 'gardener', permissions: ['create plants'] },
      { token: TOKENS.visitor, name: 'visitor', permissions: [] },
    ],
    refused: { 'an expired token': EXPIRED },
  };
}

async function failures(openVerifier: () => OpenVerifier): Promise<string[]> {
  const failed: string[] = [];
  for (const { title, run } of contractCases) {
    await run(openVerifier()).catch(() => failed.push(title));
  }
  return failed;
}

describe('The suite for every TokenVerifier', () => {
  it('passes a sound verifier', async () => {
    expect(await failures(open)).to.deep.equal([]);
  });

  for (const [defect, broken] of Object.entries(brokenVerifiers)) {
    it(`catches a verifier that ${defect}`, async () => {
      expect(await failures(() => open(broken))).to.include(broken.caughtBy);
    });
  }
});
