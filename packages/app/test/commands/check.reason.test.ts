import { StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { reasonNotReady } from '../../src/commands/check.js';

const waiting = new StorageUnavailableError('no server yet');
const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

describe('Why a part of the service is not ready', () => {
  let running: number;

  beforeEach(async () => {
    await new Promise(setImmediate);
    running = timers();
  });

  afterEach(async () => {
    await new Promise(setImmediate);
    expect(timers()).to.be.at.most(running);
  });

  it('is undefined when it is ready, at once or while it may still connect', async () => {
    const problems = [waiting, waiting];
    const part = {
      async ready() {
        const problem = problems.shift();
        if (problem) throw problem;
      },
    };
    expect(await reasonNotReady(part, 60_000, 1)).to.equal(undefined);
    expect(problems).to.deep.equal([]);
    expect(await reasonNotReady(part, 60_000, 1)).to.equal(undefined);
  });

  it('is the last one after its time limit, or "no response"', async () => {
    const rejecting = { ready: () => Promise.reject(waiting) };
    for (const pauseMs of [1, 60_000]) {
      expect(await reasonNotReady(rejecting, 20, pauseMs)).to.equal(waiting);
    }
    const part = { ready: () => new Promise<void>(() => {}) };
    expect(await reasonNotReady(part, 20)).to.have.property('message', 'no response');
  });
});
