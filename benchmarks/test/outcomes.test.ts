import { expect } from 'chai';
import { type Reported, reportedBy } from '../src/demo/clients.js';
import { comparedOutcome } from '../src/demo/outcomes.js';

const create = (id: number, reported: Reported) => ({ id, reported, waitMs: 1, at: 1 });

describe('The outcome of a create', () => {
  it('follows from what the response reported and what is stored', () => {
    const ids = new Set([1]);
    const outcomes = (['stored', 'failed', 'unknown'] as const).map((reported) =>
      [1, 2].map((id) => comparedOutcome(create(id, reported), ids)),
    );
    expect(outcomes).to.deep.equal([
      ['stored', 'lostNotStored'],
      ['storedNotFailed', 'failed'],
      ['unknownStored', 'unknownNotStored'],
    ]);
  });
});

describe('What a response reports', () => {
  it('is "unknown" only when the service says so', () => {
    expect(reportedBy(200, {})).to.equal('stored');
    expect(reportedBy(400, { error: 4006 })).to.equal('failed');
    expect(reportedBy(500, { error: 'Internal Server Error' })).to.equal('failed');
    expect(reportedBy(503, { error: 5030 })).to.equal('failed');
    expect(reportedBy(503, { error: 5031 })).to.equal('unknown');
  });
});
