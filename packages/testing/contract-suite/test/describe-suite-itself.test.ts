import { contractFor } from '@plant-store/contract-suite';
import { type Difference, describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { expect } from 'chai';
import { resultsOf } from './support/results-of.js';

/** A box under test: what was put into it is there. */
interface Box {
  readonly has: boolean;
}

const given = contractFor<Box, Record<never, never>>();
const hasIt = given([], async ({ has }) => void expect(has).to.equal(true));
const [failure, lateFailure] = ['to equal true', 'to equal true'];

it('The test of a suite fails unless correct adapters pass, and faulty ones fail as expected', async () => {
  const open = (difference: Difference<Box>) => ({ has: true, ...difference({ has: true }) });
  const variants = {
    'keeps less': { differs: () => ({ has: false }) },
    'keeps less after a fault': { differs: () => ({ has: false }), after: ['outage'] },
  };
  const faulty = {
    'is correct': () => ({ has: true, failure }),
    'is in time': () => ({ has: true, lateFailure }),
    'fails otherwise': () => ({ has: false, failure: 'late' }),
    forgets: () => ({ has: false, failure }),
    hangs: () => ({ has: false, lateFailure }),
  };
  const results = await resultsOf(() =>
    describeSuiteItself('Box', { keeps: hasIt, shows: hasIt }, open, variants, { keeps: faulty }),
  );
  const failures = Object.entries(results).filter(([, it]) => it !== undefined);
  expect(failures.map(([title]) => title)).to.deep.equal([
    'passes for an adapter that keeps less',
    'catches an adapter that is correct',
    'catches an adapter that fails otherwise',
    'catch each adapter that settles late or never',
    'each catch a deliberately faulty adapter',
  ]);
  expect(failures[2]?.[1]).to.include(
    'with: late\ngot: AssertionError: expected false to equal true',
  );
  expect(failures[4]?.[1]).to.equal('no faulty adapter for: shows');
});
