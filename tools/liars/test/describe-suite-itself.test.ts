import { contractFor } from '@plant-store/contract-suite';
import { describeSuiteItself, type Expected, resultsOf } from '@plant-store/liars';
import { expect } from 'chai';

/** A box under test: what was put into it is there. */
interface Box extends Expected {
  readonly has: boolean;
}

const KEEPS = 'keeps what was put into it';
const given = contractFor<Box, Record<never, never>>();
const cases = {
  [KEEPS]: given([], async ({ has }) => {
    expect(has).to.equal(true);
  }),
};

/** Resolves with the tests of a suite itself that fail, and their failures. */
async function failuresOf(honest: Box, liars: Record<string, Record<string, Box>>) {
  const results = await resultsOf(() =>
    describeSuiteItself('the suite', cases, (box: Box) => box, { keeps: honest }, liars),
  );
  return Object.entries(results).filter(([, failure]) => failure !== undefined);
}

const failing = async (...given: Parameters<typeof failuresOf>) =>
  (await failuresOf(...given)).map(([title]) => title);

describe('A suite itself is tested', () => {
  const failure = 'to equal true';

  it('with honest adapters and with liars', async () => {
    const lies = {
      forgets: { has: false, failure },
      hangs: { has: false, failure, hangs: true as const },
    };
    expect(await failing({ has: true }, { [KEEPS]: lies })).to.deep.equal([]);
  });

  it('and fails for a liar that passes, another failure, and a case without a liar', async () => {
    const lies = {
      'is honest': { has: true, failure },
      forgets: { has: false, failure: 'another reason' },
      'is in time': { has: true, failure, hangs: true as const },
    };
    expect(await failing({ has: false }, { [KEEPS]: lies })).to.deep.equal([
      `passes for an adapter that keeps: ${KEEPS}`,
      `fails for an adapter that is honest: ${KEEPS}`,
      `fails for an adapter that forgets: ${KEEPS}`,
      'fails for each adapter that settles late or never',
    ]);
    expect(await failing({ has: true }, {})).to.deep.equal(['has a liar for each case']);
  });

  it('and a failure shows all of what was expected, and all of what came', async () => {
    const expected = 'x'.repeat(100);
    const [[title, shown] = []] = await failuresOf(
      { has: true },
      { [KEEPS]: { forgets: { has: false, failure: expected } } },
    );
    expect(title).to.equal(`fails for an adapter that forgets: ${KEEPS}`);
    expect(shown).to.include(
      `with: ${expected}\ngot: AssertionError: expected false to equal true`,
    );
  });
});
