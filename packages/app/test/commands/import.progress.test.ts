import { expect } from 'chai';
import { importProgress } from '../../src/commands/import.js';

const NONE = { stored: 0, taken: 0, invalid: 0, unavailable: 0, unknown: 0, failed: 0, blank: 0 };

describe('The progress of an import', () => {
  it('has the bytes, the plants, the plants per second and the next line', () => {
    const outcomes = { ...NONE, stored: 40_000 };
    const progress = { outcomes, pending: 0, retrying: 0, bytes: 3_000, nextLine: 40_001 };
    const source = importProgress({ progress });
    expect(source.done).to.equal(3_000);
    expect(source.text()).to.match(/^40,000 plants, [0-9,]+\/s \| --from-line 40001$/);
  });

  it('has the lines that were not stored, without blank ones, and those that are retried', () => {
    const outcomes = { ...NONE, taken: 1000, invalid: 2, unavailable: 30, unknown: 400, blank: 5 };
    const progress = { outcomes, pending: 4000, retrying: 4000, bytes: 0, nextLine: 1008 };
    const source = { progress };
    const { text } = importProgress(source);
    expect(text()).to.equal(
      '0 plants, 0/s, 1,432 not stored, 4,000 wait for the storage | --from-line 1008',
    );
    source.progress = { ...progress, outcomes: { ...NONE, failed: 1 }, retrying: 1 };
    expect(text()).to.equal(
      '0 plants, 0/s, 1 not stored, 1 wait for the storage | --from-line 1008',
    );
  });
});
