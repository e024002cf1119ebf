import { contractFor, suiteOf, testsOf } from '@plant-store/contract-suite';
import { resultsOf } from '@plant-store/liars';
import { expect } from 'chai';

interface Faults {
  stall(): Promise<void>;
  crash(): Promise<void>;
  recover(): Promise<void>;
}

const given = contractFor<Partial<Faults>, Faults>();

const cases = {
  works: given([], async () => undefined),
  settles: given(['stall'], (opened) => opened.stall()),
  recovers: given(['stall', 'crash'], (opened) => opened.crash()),
};

const hooks = { stall: async () => undefined, crash: async () => undefined };
const titlesOf = (without: string | Partial<Record<keyof Faults, string>>) =>
  Object.keys(testsOf(cases, { without }));

async function problemsOf(opened: Partial<Faults>, without: string | Record<string, string> = {}) {
  const outcomes = await Promise.allSettled(
    Object.values(testsOf(cases, { without })).map(({ run }) => run(opened)),
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
    const [empty] = await problemsOf({}, '');
    expect(empty).to.equal('there is no stall(), and its reason is empty');
    const [problem] = await problemsOf(hooks, { crash: 'it has no server' });
    expect(problem).to.equal('crash() is offered: remove its reason from `without`');
  });
});

describe('A suite of an adapter', () => {
  /** Runs the suite of an adapter. Resolves with what happened, and with the failures. */
  async function ran(failing: Partial<Record<keyof Faults | 'close', string>>) {
    const calls: string[] = [];
    const call = (name: keyof typeof failing) => async () => {
      calls.push(name);
      if (failing[name] !== undefined) throw new Error(failing[name]);
    };
    const describeBox = suiteOf('Box', cases, (opened: Partial<Faults>) => {
      calls.push(`close ${Reflect.get(opened, 'number')}`);
      return failing.close === undefined
        ? Promise.resolve()
        : Promise.reject(new Error(failing.close));
    });
    let number = 0;
    const opens = async () => {
      number += 1;
      return { number, stall: call('stall'), crash: call('crash'), recover: call('recover') };
    };
    const failures = await resultsOf(() => describeBox('Carton', opens));
    return { calls, failures };
  }

  it('opens an adapter for each case, ends every fault, and closes it', async () => {
    const { calls, failures } = await ran({});
    expect(failures).to.deep.equal({ works: undefined, settles: undefined, recovers: undefined });
    expect(calls).to.deep.equal([
      ...['close 1', 'stall', 'recover', 'close 2', 'crash', 'recover', 'close 3'],
    ]);
  });

  it('fails when a rejected promise is left unhandled, also at the very end', async () => {
    const leave = async () => {
      Promise.reject(new Error('nobody waits'));
    };
    const describeBox = suiteOf('Box', cases, async () => undefined);
    const failures = await resultsOf(() =>
      describeBox('Carton', async () => ({ stall: leave, crash: async () => undefined })),
    );
    expect(failures.works).to.equal(undefined);
    expect(failures.settles).to.include('left a rejected promise unhandled: Error: nobody waits');
    expect(failures.recovers).to.equal(undefined);
  });

  it('does both after a case that fails, and reports the first failure', async () => {
    const late = { recover: 'not recovered', close: 'not closed' };
    const { calls, failures } = await ran({ stall: 'not durable', ...late });
    expect(failures).to.deep.equal({
      works: 'not closed',
      settles: 'not durable',
      recovers: 'not recovered',
    });
    expect(calls.slice(0, 4)).to.deep.equal(['close 1', 'stall', 'recover', 'close 2']);
  });
});
