import { expect } from 'chai';
import type { Create, Reported } from '../src/demo/clients.js';
import { exitCodeOf, figuresOf } from '../src/demo/figures.js';

const create = (id: number, reported: Reported, at = 100, waitMs = 10): Create => {
  return { id, reported, at, waitMs };
};

/** A run in which the plants 1 and 2 are stored. */
function run(ofService: readonly Create[], ofPeer: readonly Create[] = []) {
  const ids = new Set([1, 2]);
  return {
    began: 0,
    longestStallMs: 20,
    happened: [
      { name: 'killed', from: 1_000, to: 5_000 },
      { name: 'frozen', from: 9_000, to: 20_000 },
    ],
    results: [
      { name: 'a peer', isService: false, creates: ofPeer, ids },
      { name: 'Plant Store', isService: true, creates: ofService, ids },
    ],
  };
}

const exitCode = (...args: Parameters<typeof run>) => exitCodeOf(figuresOf(run(...args)));

describe('The exit code of the demo', () => {
  it('is 1 when a response of the service is wrong', () => {
    expect(exitCode([create(1, 'failed')])).to.equal(1);
    expect(exitCode([create(1, 'stored'), create(3, 'stored')])).to.equal(1);
    expect(exitCodeOf([]), 'without figures').to.equal(1);
  });

  it('is 0 when only other servers are wrong, or outcomes are unknown', () => {
    const service = [create(1, 'unknown'), create(3, 'unknown')];
    expect(exitCode(service, [create(3, 'stored')])).to.equal(0);
  });
});

describe('The figures of the demo', () => {
  const creates = [create(1, 'stored', 900, 800), create(2, 'stored', 6_000, 5_000)];

  it('count the responses from each fault until the next one', () => {
    const [, service] = figuresOf(run([...creates, create(3, 'unknown', 9_500, 400)]));
    expect(service?.faults).to.deep.equal({
      killed: { responses: 1, unknown: 0, longestWaitMs: 5_000 },
      frozen: { responses: 1, unknown: 1, longestWaitMs: 400 },
    });
  });
});
