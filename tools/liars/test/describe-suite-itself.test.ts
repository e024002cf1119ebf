import { contractFor } from '@plant-store/contract-suite';
import { describeSuiteItself, type Liars, resultsOf } from '@plant-store/liars';
import { expect } from 'chai';

/** A box under test: what was put into it is there. */
interface Box {
  readonly has: boolean;
}

const KEEPS = 'keeps what was put into it';
const LATE = 'fails for each adapter that settles late or never';
const given = contractFor<Box, Record<never, never>>();
const cases = {
  [KEEPS]: given([], async ({ has }) => {
    expect(has).to.equal(true);
  }),
};

const liar = (has: boolean, naming?: string, hangs?: true) => ({
  open: () => ({ has }),
  ...{ naming, hangs },
});

/** Resolves with whether each test of a suite itself passes. */
async function passed(honest: boolean, liars: Record<string, ReturnType<typeof liar>>) {
  const keeps = { keeps: () => ({ has: honest }) };
  const all: Liars<Box> = Object.keys(liars).length === 0 ? {} : { [KEEPS]: liars };
  const failures = await resultsOf(() => describeSuiteItself('the suite', cases, keeps, all));
  return Object.fromEntries(
    Object.entries(failures).map(([title, failure]) => [title, failure === undefined]),
  );
}

describe('A suite itself is tested', () => {
  const kept = `passes for an adapter that keeps: ${KEEPS}`;
  const lies = (what: string) => `fails for an adapter that ${what}: ${KEEPS}`;

  it('with honest adapters and with liars', async () => {
    const liars = { forgets: liar(false, 'to equal true'), hangs: liar(false, undefined, true) };
    expect(await passed(true, liars)).to.deep.equal({
      [kept]: true,
      [lies('forgets')]: true,
      [LATE]: true,
      'has a liar for each case': true,
    });
  });

  it('and fails for a liar that passes, another failure, and a case without a liar', async () => {
    const liars = {
      'is honest': liar(true),
      forgets: liar(false, 'another reason'),
      'is in time': liar(true, undefined, true),
    };
    expect(await passed(false, liars)).to.deep.equal({
      [kept]: false,
      [lies('is honest')]: false,
      [lies('forgets')]: false,
      [LATE]: false,
      'has a liar for each case': true,
    });
    expect((await passed(true, {}))['has a liar for each case']).to.equal(false);
  });
});
