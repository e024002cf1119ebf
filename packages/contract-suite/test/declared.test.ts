import { rejects } from 'node:assert/strict';
import {
  contractFor,
  describeContract,
  describeSuiteItself,
  errorOf,
  settled,
  until,
} from '@plant-store/contract-suite';
import { expect } from 'chai';
import Mocha from 'mocha';

/** A box under test: what was put into it is there. */
interface Box {
  readonly has: boolean;
  closed: boolean;
}

const promise = contractFor<Box, Record<never, never>>();
const cases = [
  promise('keeps what was put into it', [], async ({ has }) => {
    expect(has).to.equal(true);
  }),
];
const box = (has: boolean): Box => ({ has, closed: false });

/** Declares tests in a Mocha of its own, and runs them. Resolves with the title and the result of each. */
function resultsOf(declare: () => void, limitMs = 2_000): Promise<Record<string, boolean>> {
  const mocha = new Mocha({ reporter: class extends Mocha.reporters.Base {} });
  mocha.suite.emit('pre-require', {}, '', mocha);
  declare();
  expect(mocha.suite.suites[0]?.timeout()).to.equal(limitMs);
  const results: Record<string, boolean> = {};
  return new Promise((resolve) => {
    mocha
      .run(() => resolve(results))
      .on('pass', ({ title }) => {
        results[title] = true;
      })
      .on('fail', ({ title }) => {
        results[title] = false;
      });
  });
}

describe('A suite that is declared', () => {
  it('runs each case with an adapter of its own, and closes it', async () => {
    for (const honest of [true, false]) {
      const opened: Box[] = [];
      const open = async () => {
        opened.push(box(honest));
        return opened[0] ?? box(false);
      };
      const close = async (it: Box) => {
        it.closed = true;
      };
      const results = await resultsOf(() => describeContract('a box', cases, open, close), 60_000);
      expect(results).to.deep.equal({ 'keeps what was put into it': honest });
      expect(opened).to.deep.equal([{ has: honest, closed: true }]);
    }
  });

  it('is itself tested with honest adapters and with liars', async () => {
    const [caughtBy] = cases.map(({ title }) => title);
    const liar = (has: boolean, naming?: string, hangs?: true) => ({
      ...{ caughtBy: caughtBy ?? '', open: () => box(has) },
      ...{ naming, hangs },
    });
    const declare = (honest: boolean, liars: Record<string, ReturnType<typeof liar>>) => () =>
      describeSuiteItself('the suite', cases, { keeps: () => box(honest) }, liars);
    const kept = 'passes for an adapter that keeps: keeps what was put into it';
    const lies = (what: string) => `fails for an adapter that ${what}: keeps what was put into it`;

    const liars = { forgets: liar(false, 'to equal true'), hangs: liar(false, undefined, true) };
    expect(await resultsOf(declare(true, liars))).to.deep.equal({
      [kept]: true,
      [lies('forgets')]: true,
      [lies('hangs')]: true,
      'has a liar for each case': true,
    });
    const others = { 'is honest': liar(true), forgets: liar(false, 'another reason') };
    expect(await resultsOf(declare(false, others))).to.deep.equal({
      [kept]: false,
      [lies('is honest')]: false,
      [lies('forgets')]: false,
      'has a liar for each case': true,
    });
    expect((await resultsOf(declare(true, {})))['has a liar for each case']).to.equal(false);
  });
});

describe('A call', () => {
  it('is awaited for its error, and then keeps no process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    await new Promise(setImmediate);
    const before = timers();
    const error = new Error('why');
    expect(await errorOf(Promise.reject(error))).to.equal(error);
    expect(await errorOf(Promise.resolve('a result'))).to.equal(undefined);
    expect(timers()).to.be.at.most(before);
  });

  it('fails when it does not settle within its limit', async () => {
    await rejects(settled(new Promise(() => {}), 1), { message: 'never settled' });
  });
});

describe('A condition', () => {
  it('is awaited until it holds, within its limit', async () => {
    let attempts = 0;
    await until(async () => ++attempts === 3, 'never');
    expect(attempts).to.equal(3);
    await rejects(
      until(async () => false, 'never', 1),
      { message: 'never' },
    );
  });
});
