import { contractFor } from '@plant-store/contract-suite';
import {
  type Defect,
  type Difference,
  describeSuiteItself,
} from '@plant-store/contract-suite/mocha';
import { expect } from 'chai';
import { resultsOf } from './support/results-of.js';

/** A box under test: what was put into it is there. */
interface Box {
  readonly has: boolean;
}

const KEEPS = 'keeps what was put into it';
const given = contractFor<Box, Record<never, never>>();
const cases = {
  [KEEPS]: given([], async ({ has }) => {
    expect(has).to.equal(true);
  }),
};

const variants = {
  'keeps more': { differs: () => ({}) },
  'keeps more after a fault': { differs: () => ({}), after: ['outage'] },
};

/** Resolves with the tests of a suite itself that fail, and their failures. */
async function failuresOf(has: boolean, defects?: Record<string, Defect<Box>>) {
  const open = (difference: Difference<Box>) => ({ has, ...difference({ has }) });
  const faultyAdapters = defects === undefined ? {} : { [KEEPS]: defects };
  const results = await resultsOf(() =>
    describeSuiteItself('Box', cases, open, variants, faultyAdapters),
  );
  return Object.entries(results).filter(([, failure]) => failure !== undefined);
}

describe('The test of a suite itself', () => {
  const failure = 'to equal true';

  it('passes if every correct adapter passes and every lying one fails as expected', async () => {
    const defects = {
      forgets: () => ({ has: false, failure }),
      hangs: () => ({ has: false, lateFailure: failure }),
    };
    expect(await failuresOf(true, defects)).to.deep.equal([]);
  });

  it('fails if a lying adapter passes, fails with another message, or is missing', async () => {
    const another = 'x'.repeat(100);
    const failures = await failuresOf(false, {
      'is correct': () => ({ has: true, failure }),
      forgets: () => ({ failure: another }),
      'is in time': () => ({ has: true, lateFailure: failure }),
    });
    expect(failures.map(([title]) => title)).to.deep.equal([
      'passes for a correct adapter',
      'passes for an adapter that keeps more',
      'catches an adapter that is correct',
      'catches an adapter that forgets',
      'catch each adapter that settles late or never',
    ]);
    const shown = `with: ${another}\ngot: AssertionError: expected false to equal true`;
    expect(failures[3]?.[1], 'all of what was expected, and all of what came').to.include(shown);
    const without = await failuresOf(true);
    expect(without.map(([title]) => title)).to.deep.equal([
      'each catch a deliberately faulty adapter',
    ]);
  });
});
