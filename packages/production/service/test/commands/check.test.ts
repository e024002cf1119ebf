import { StoreUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { reasonNotReady } from '../../src/commands/check.js';

describe('The reason why a part of the service is not ready', () => {
  it('is undefined when it is ready, or while it may still connect', async () => {
    const problems = [undefined, new StoreUnavailableError('no server yet'), undefined];
    const ready = async () => {
      const problem = problems.shift();
      if (problem) throw problem;
    };
    for (const left of [2, 0]) {
      expect(await reasonNotReady({ ready })).to.equal(undefined);
      expect(problems).to.have.length(left);
    }
  });

  it('is "no response" when it does not respond', async () => {
    const reason = await reasonNotReady({ ready: () => new Promise(() => undefined) });
    expect(reason).to.have.property('message', 'no response');
  });
});
