import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { authenticatedClient, TokenVerifierUnavailableError } from '@plant-store/domain';
import { contractCases, type OpenVerifier } from '@plant-store/token-verifier-contract';
import { expect } from 'chai';
import { correctVerifier, EXPIRED, SimulatedIssuer, TOKENS } from './support/correct-verifier.js';

const GARDENER = TOKENS.gardener;

/** Every case, with the faults that it needs. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  'accepts a valid token and returns the client that it was issued to': [],
  'accepts a valid token repeatedly': [],
  'distinguishes the clients of 20 concurrent checks': [],
  'names clients by 1 to 128 printable characters that are not the token': [],
  'refuses text that is not a token': [],
  'refuses tokens of its own kind that are not valid': [],
  'refuses an altered token, also after it has accepted the original': [],
  'refuses an invalid token every time, also among concurrent valid ones': [],
  'does not misjudge a token when what it depends on cannot be reached': ['outage'],
  'does not misjudge a token when what it depends on does not respond': ['stall'],
  'does not misjudge a token when what it depends on responds with an unexpected page': [
    'malfunction',
  ],
  'recovers without a restart when what it depends on can be reached again': ['outage', 'recover'],
  'recovers without a restart when what it depends on responds again': ['stall', 'recover'],
  'recovers without a restart when what it depends on responds as before': [
    'malfunction',
    'recover',
  ],
  'reveals no part of a token, and no other secret, in its errors': [],
  'reveals no part of a token, and no other secret, in its errors when what it depends on cannot be reached':
    ['outage'],
  'reveals no part of a token, and no other secret, in its errors when what it depends on does not respond':
    ['stall'],
  'reveals no part of a token, and no other secret, in its errors when what it depends on responds with an unexpected page':
    ['malfunction'],
  'is ready when it is open': [],
  'can be closed more than once': [],
  'reports after close that it is unavailable, not that a token is invalid': [],
};

/** What is no token at all. */
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

/** What an altered token looks like. */
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

describe('The cases for a TokenVerifier', () => {
  it('have these titles and needs', () => {
    const found = contractCases.map(({ title, needs = [] }) => [title, needs]);
    expect(Object.fromEntries(found)).to.deep.equal(CASES);
  });

  /** A verifier that reads `accepted` as the token of the gardener, at once or after it has verified that one. */
  function open(accepted?: string, when: 'at once' | 'later' = 'at once'): OpenVerifier {
    const correct = correctVerifier(new SimulatedIssuer());
    let isLater = false;
    return {
      verifier: {
        ...correct,
        verify(token) {
          isLater ||= token === GARDENER;
          const isRead = token === accepted && (when === 'at once' || isLater);
          return correct.verify(isRead ? GARDENER : token);
        },
      },
      accepted: [
        { token: GARDENER, name: 'gardener', permissions: ['create plants'] },
        { token: TOKENS.visitor, name: 'visitor', permissions: [] },
      ],
      refused: { 'an expired token': EXPIRED },
    };
  }

  async function problemOf(title: string, opened: OpenVerifier): Promise<string | undefined> {
    const found = contractCases.find((it) => it.title === title);
    return found?.run(opened).then(
      () => undefined,
      (error: Error) => error.message.replace(/^Missing expected rejection \(\w+\): /, ''),
    );
  }

  for (const [what, token] of Object.entries(FOREIGN)) {
    it(`catch a verifier that accepts ${what}, and name it`, async () => {
      const problem = await problemOf('refuses text that is not a token', open(token));
      expect(problem).to.equal(`${what} was not refused`);
    });
  }

  for (const [how, token] of Object.entries(ALTERED)) {
    const title = 'refuses an altered token, also after it has accepted the original';

    it(`catch a verifier that accepts a token ${how}`, async () => {
      expect(await problemOf(title, open(token))).to.equal(`a token ${how} was not refused`);
    });

    it(`catch a verifier that accepts a token ${how} after it has accepted the original`, async () => {
      expect(await problemOf(title, open(token, 'later'))).to.equal(
        `a token ${how} was not refused`,
      );
    });
  }

  it('catch a verifier that accepts an expired token, and name it', async () => {
    const title = 'refuses tokens of its own kind that are not valid';
    expect(await problemOf(title, open(EXPIRED))).to.equal('an expired token was not refused');
    const beside = 'refuses an invalid token every time, also among concurrent valid ones';
    expect(await problemOf(beside, open(EXPIRED, 'later'))).to.equal(
      'a token among valid ones was not refused',
    );
  });

  for (const name of ['', 'x'.repeat(129), 'a\nb', 'a\u0000b', 'a\uD800b', 'a\u200Eb']) {
    it(`catch a verifier that names a client ${JSON.stringify(name).slice(0, 20)}`, async () => {
      const { verifier, ...rest } = open();
      const naming = { ...verifier, verify: async () => authenticatedClient(name, []) };
      const title = 'names clients by 1 to 128 printable characters that are not the token';
      expect(await problemOf(title, { ...rest, verifier: naming })).to.include('to match');
    });
  }

  it('name a missing hook', async () => {
    expect(
      await problemOf('recovers without a restart when what it depends on responds again', open()),
    ).to.equal('the verifier has no stall(): offer it, or give a reason in `without`');
  });

  describe('wait', () => {
    const { setTimeout } = timers;
    let now: number;
    let waits: number[];

    /** Has every wait end at once, after its time by the clock. */
    beforeEach(() => {
      now = 0;
      waits = [];
      performance.now = () => now;
      const wait = async (ms: number) => {
        waits.push(ms);
        now += ms;
      };
      Object.assign(timers, { setTimeout: wait });
      syncBuiltinESMExports();
    });

    afterEach(() => {
      Reflect.deleteProperty(performance, 'now');
      Object.assign(timers, { setTimeout });
      syncBuiltinESMExports();
    });

    const none = async () => undefined;
    const title = 'recovers without a restart when what it depends on can be reached again';

    it('5 seconds for a call', async () => {
      const { verifier, ...rest } = open();
      const hanging = { ...verifier, ready: () => new Promise<void>(() => {}) };
      const offered = { outage: none, recover: none };
      const problem = await problemOf(title, { ...rest, ...offered, verifier: hanging });
      expect(problem).to.equal('never settled');
      expect(new Set(waits)).to.deep.equal(new Set([5000]));
    });

    it('20 seconds for the end of an outage, and check every 10 ms', async () => {
      const unavailable = () => Promise.reject(new TokenVerifierUnavailableError('gone'));
      const { verifier, ...rest } = open();
      const gone = { ...verifier, verify: unavailable, ready: unavailable };
      let began = 0;
      const recover = async () => {
        now = 0;
        began = waits.length;
      };
      Object.assign(timers, {
        setTimeout: async (ms: number, _: undefined, options?: object) => {
          if (options !== undefined) await new Promise(() => {});
          waits.push(ms);
          now += ms;
        },
      });
      syncBuiltinESMExports();
      const offered = { outage: none, recover };
      const problem = await problemOf(title, { ...rest, ...offered, verifier: gone });
      expect(problem).to.equal('the verifier was not ready again');
      expect(now).to.equal(20_010);
      expect(new Set(waits.slice(began))).to.deep.equal(new Set([10]));
    });
  });
});
