import { StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { reasonNotReady } from '../../src/commands/check.js';

const waiting = new StorageUnavailableError('no server yet');

describe('Why a part of the service is not ready', () => {
  it('is undefined when it is ready, at once or while it may still connect', async () => {
    const problems = [waiting, waiting];
    const part = {
      async ready() {
        const problem = problems.shift();
        if (problem) throw problem;
      },
    };
    for (let call = 0; call < 2; call += 1) {
      expect(await reasonNotReady(part, 1_000, 1)).to.equal(undefined);
      expect(problems).to.deep.equal([]);
    }
  });

  it('is the last one after its time limit, or "no response"', async () => {
    const rejecting = { ready: () => Promise.reject(waiting) };
    for (const pauseMs of [1, 500]) {
      expect(await reasonNotReady(rejecting, 20, pauseMs)).to.equal(waiting);
    }
    const part = { ready: () => new Promise<void>(() => {}) };
    expect(await reasonNotReady(part, 20)).to.have.property('message', 'no response');
  });
});
