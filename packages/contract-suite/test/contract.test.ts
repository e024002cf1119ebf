import { contractFor, type SuiteOptions, suiteOf } from '@plant-store/contract-suite';
import { mocha } from '@plant-store/contract-suite/mocha';
import { expect } from 'chai';
import { resultsOf } from './support/results-of.js';

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

const nothing = async () => undefined;

/** Runs the suite of an adapter. Resolves with the failures of its tests, in their order. */
function failuresOf(
  opened: Partial<Faults>,
  options: SuiteOptions<keyof Faults> = {},
  close: () => Promise<void> = nothing,
): Promise<Record<string, string | undefined>> {
  const describeBox = suiteOf<Partial<Faults>, keyof Faults>('Box', cases, close);
  return resultsOf(() => describeBox(mocha, 'Carton', async () => opened, options));
}

describe('A suite of an adapter', () => {
  it('has every case; those whose hook is not offered fail', async () => {
    expect(Object.entries(await failuresOf({ stall: nothing, crash: nothing }))).to.deep.equal([
      ['works', undefined],
      ['settles', undefined],
      ['recovers', undefined],
    ]);
    const missing = 'stall() is missing: offer it, or give a reason in `without`';
    const expected = { works: undefined, settles: missing, recovers: missing };
    expect(await failuresOf({})).to.deep.equal(expected);
  });

  it('has reasons for missing hooks instead of the cases that need them', async () => {
    const [noServer, simulated] = [{ crash: 'it has no server' }, 'it is simulated'];
    expect(await failuresOf({ stall: nothing }, { without: noServer })).to.deep.equal({
      'is not tested with crash: it has no server': 'pending',
      works: undefined,
      settles: undefined,
    });
    expect(await failuresOf({}, { without: simulated })).to.deep.equal({
      'is not tested with stall: it is simulated': 'pending',
      'is not tested with crash: it is simulated': 'pending',
      works: undefined,
    });
  });

  it('fails with an empty reason, or a reason for an offered hook', async () => {
    const empty = await failuresOf({ stall: nothing }, { without: { crash: '' } });
    expect(empty).to.include({
      'is not tested with crash: ': 'crash() is missing, and its reason is empty',
    });
    const offered = { stall: nothing, crash: nothing };
    expect(await failuresOf(offered, { without: { crash: 'none' } })).to.include({
      'is not tested with crash: none': 'crash() is offered: remove its reason from `without`',
    });
  });

  /** Runs the suite with functions that fail. Resolves with what was called, and with the failures. */
  async function ran(failing: Partial<Record<keyof Faults | 'close', string>>) {
    const calls: string[] = [];
    const call = (name: keyof typeof failing) => async () => {
      calls.push(name);
      if (failing[name] !== undefined) throw new Error(failing[name]);
    };
    const hooks = { stall: call('stall'), crash: call('crash'), recover: call('recover') };
    return { failures: await failuresOf(hooks, {}, call('close')), calls };
  }

  it('ends every fault and closes the adapter, even after a failed case', async () => {
    const passed = { works: undefined, settles: undefined, recovers: undefined };
    const calls = ['close', 'stall', 'recover', 'close', 'crash', 'recover', 'close'];
    expect(await ran({})).to.deep.equal({ failures: passed, calls });
    const late = { recover: 'not recovered', close: 'not closed' };
    expect(await ran({ stall: 'not durable', ...late })).to.deep.equal({
      failures: { works: 'not closed', settles: 'not durable', recovers: 'not recovered' },
      calls,
    });
  });

  it('fails if a rejection is left unhandled, even at the very end', async () => {
    const stall = async () => {
      Promise.reject(new Error('no caller waits'));
    };
    const { works, settles, recovers } = await failuresOf({ stall, crash: nothing });
    expect(settles).to.include('left a rejected promise unhandled: Error: no caller waits');
    expect([works, recovers]).to.deep.equal([undefined, undefined]);
  });
});
