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

const capabilities = { power: ['crash'], server: ['stall', 'crash'] };

/** Runs the suite of an adapter. Resolves with the failures of its tests, in their order. */
function failuresOf(
  opened: Partial<Faults>,
  options: SuiteOptions<keyof typeof capabilities> = {},
  close: () => Promise<void> = nothing,
): Promise<Record<string, string | undefined>> {
  const describeBox = suiteOf('Box', cases, close, capabilities);
  return resultsOf(() => describeBox(mocha, 'Carton', async () => opened, options));
}

describe('The suite of an adapter', () => {
  const passed = { works: undefined, settles: undefined, recovers: undefined };
  const offered = { stall: nothing, crash: nothing };

  it('contains every case, and fails those whose hook is missing although the capability is there', async () => {
    const results = await failuresOf(offered);
    expect(Object.entries(results)).to.deep.equal(Object.entries(passed));
    const missing = 'stall() is missing, and `without` names no capability that needs it';
    const expected = { works: undefined, settles: missing, recovers: missing };
    expect(await failuresOf({})).to.deep.equal(expected);
    expect(await failuresOf({}, { without: ['power'] })).to.include({ settles: missing });
  });

  it('reports the hooks of a missing capability as skipped, unless one is offered', async () => {
    expect(await failuresOf({ stall: nothing }, { without: ['power'] })).to.deep.equal({
      'is not tested with crash: it has no power': 'pending',
      works: undefined,
      settles: undefined,
    });
    expect(await failuresOf({ crash: nothing }, { without: ['server'] })).to.deep.equal({
      'is not tested with stall: it has no server': 'pending',
      'is not tested with crash: it has no server':
        'crash() is offered: remove "server" from `without`',
      works: undefined,
    });
  });

  it('ends every fault and closes the adapter, even after a failed case', async () => {
    const calls: string[] = [];
    const call = (name: string, failure?: string) => async () => {
      calls.push(name);
      if (failure) throw new Error(failure);
    };
    const hooks = { stall: call('stall'), crash: call('crash'), recover: call('recover') };
    expect(await failuresOf(hooks, {}, call('close'))).to.deep.equal(passed);
    const all = ['close', 'stall', 'recover', 'close', 'crash', 'recover', 'close'];
    expect(calls.splice(0)).to.deep.equal(all);
    const failing = {
      ...hooks,
      stall: call('stall', 'not durable'),
      recover: call('recover', 'not recovered'),
    };
    expect(await failuresOf(failing, {}, call('close', 'not closed'))).to.deep.equal({
      works: 'not closed',
      settles: 'not durable',
      recovers: 'not recovered',
    });
    expect(calls).to.deep.equal(all);
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
