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
  it('contains every case, and fails those whose hook is missing', async () => {
    expect(Object.entries(await failuresOf({ stall: nothing, crash: nothing }))).to.deep.equal([
      ['works', undefined],
      ['settles', undefined],
      ['recovers', undefined],
    ]);
    const missing = 'stall() is missing, and `without` names no capability that needs it';
    const expected = { works: undefined, settles: missing, recovers: missing };
    expect(await failuresOf({})).to.deep.equal(expected);
  });

  it('reports the hook of a missing capability as skipped instead of running its cases', async () => {
    expect(await failuresOf({ stall: nothing }, { without: ['power'] })).to.deep.equal({
      'is not tested with crash: it has no power': 'pending',
      works: undefined,
      settles: undefined,
    });
    expect(await failuresOf({}, { without: ['server'] })).to.deep.equal({
      'is not tested with stall: it has no server': 'pending',
      'is not tested with crash: it has no server': 'pending',
      works: undefined,
    });
  });

  it('fails if a hook is missing although the capability is there, or the reverse', async () => {
    const missing = 'stall() is missing, and `without` names no capability that needs it';
    expect(await failuresOf({}, { without: ['power'] })).to.include({ settles: missing });
    const offered = { stall: nothing, crash: nothing };
    expect(await failuresOf(offered, { without: ['power'] })).to.include({
      'is not tested with crash: it has no power':
        'crash() is offered: remove "power" from `without`',
    });
  });

  it('refuses a capability that the port does not list', () => {
    const without = ['the tests have no time for it'] as unknown as ['power'];
    const message = /without: "the tests have no time for it" is not one of: power, server/;
    expect(() => failuresOf({}, { without })).to.throw(message);
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
