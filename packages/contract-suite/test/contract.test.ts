import { contractFor, testsOf } from '@plant-store/contract-suite';
import { expect } from 'chai';

interface Faults {
  stall(): Promise<void>;
  crash(): Promise<void>;
}

const promise = contractFor<Partial<Faults>, Faults>();

const cases = [
  promise('works', [], async () => undefined),
  promise('settles', ['stall'], (opened) => opened.stall()),
  promise('recovers', ['stall', 'crash'], (opened) => opened.crash()),
];

const hooks = { stall: async () => undefined, crash: async () => undefined };
const titlesOf = (without: string | Partial<Record<keyof Faults, string>>) =>
  testsOf(cases, { without }).map(({ title }) => title);

async function problemsOf(opened: Partial<Faults>, without: string | Record<string, string> = {}) {
  const outcomes = await Promise.allSettled(
    testsOf(cases, { without }).map(({ run }) => run(opened)),
  );
  return outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason.message] : []));
}

describe('The tests of an adapter', () => {
  it('are all cases when it offers every hook', async () => {
    expect(titlesOf({})).to.deep.equal(['works', 'settles', 'recovers']);
    expect(await problemsOf(hooks)).to.deep.equal([]);
  });

  it('fail without a hook and without a reason', async () => {
    expect(await problemsOf({})).to.deep.equal(
      Array(2).fill('there is no stall(): offer it, or give a reason in `without`'),
    );
  });

  it('have the reason for a missing hook instead of the cases that need it', async () => {
    const without = { crash: 'it has no server' };
    expect(titlesOf(without)).to.deep.equal([
      'is not tested with crash: it has no server',
      'works',
      'settles',
    ]);
    expect(await problemsOf({ stall: hooks.stall }, without)).to.deep.equal([]);
    expect(titlesOf('it is simulated')).to.deep.equal([
      'is not tested with stall: it is simulated',
      'is not tested with crash: it is simulated',
      'works',
    ]);
  });

  it('fail with an empty reason, and with a reason for a hook that is offered', async () => {
    const empty = "the reason: expected '' to not equal ''";
    expect(await problemsOf({}, '')).to.deep.equal([empty, empty]);
    const [problem] = await problemsOf(hooks, { crash: 'it has no server' });
    expect(problem).to.match(/^crash, which is offered: /);
  });

  it('fail when a case fails', async () => {
    const failing = { ...hooks, crash: () => Promise.reject(new Error('not durable')) };
    expect(await problemsOf(failing)).to.deep.equal(['not durable']);
  });
});
