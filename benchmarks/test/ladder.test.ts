import { expect } from 'chai';
import type { Sample } from '../src/bench/compare.js';
import { medianAndRange, perSecond, ratios } from '../src/bench/ratios.js';

const sample = (subject: string, round: number, perSecond: number, connections = 50): Sample => {
  const cpuUs = [perSecond / 2, perSecond / 4];
  const rest = { requests: 9, failed: 0, seconds: 1, p50: 1, p99: 1, cpuUs };
  return { subject, round, perSecond, connections, ...rest };
};

describe('A ratio', () => {
  const samples = [
    sample('own', 0, 100),
    sample('other', 0, 50),
    sample('other', 1, 100),
    sample('own', 1, 50),
    sample('own', 0, 999, 200),
    sample('other', 2, 10),
    sample('own', 2, 30),
  ];

  it('compares only measurements of the same round and number of connections', () => {
    expect(ratios(samples, ['own', 'other'], 50, perSecond)).to.deep.equal([2, 0.5, 3]);
  });

  it('is reported as the median of the rounds, with their range', () => {
    expect(medianAndRange([2, 0.5, 3])).to.equal('2.00 (0.50–3.00)');
    expect(medianAndRange([2, 4])).to.equal('3.00 (2.00–4.00)');
    expect(medianAndRange([1.5])).to.equal('1.50');
  });
});
