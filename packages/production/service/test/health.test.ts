import { rejects } from 'node:assert/strict';
import { StoreUnavailableError } from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-operations';
import { StoreDegradedError } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import { reasonNotReady } from '../src/commands/check.js';
import { Health } from '../src/health.js';

const outage = new StoreUnavailableError('no primary');

/** Returns a part of the service, which has this problem at first. */
const newPart = (problem?: Error) => ({
  problem,
  asked: 0,
  async ready() {
    this.asked += 1;
    if (this.problem) throw this.problem;
  },
});

describe('The health of the service', () => {
  let health: Health;

  afterEach(() => health.stop());

  for (const what of ['store', 'token verifier']) {
    it(`is not ready until the ${what} has been reached once, and stays ready during later outages`, async () => {
      const [part, other] = [newPart(outage), newPart()];
      health = what === 'store' ? new Health(part, other) : new Health(other, part);
      // No caller waits for this check.
      await new Promise(setImmediate);
      await rejects(health.ready(), outage);
      part.problem = undefined;
      other.problem = outage;
      await health.ready();
      part.problem = outage;
      await health.ready();
    });
  }

  it('reports the instance as ready while the database is slow', async () => {
    health = new Health(newPart(new StoreDegradedError('not in time')), newPart());
    await health.ready();
    expect(health.isReady).to.equal(true);
  });

  it('is bad as soon as the service begins to stop, even during a check', async () => {
    const store = newPart(outage);
    health = new Health(store, newPart());
    const during = rejects(health.ready(), new StoppingError());
    health.stop();
    await during;
    const { asked } = store;
    await rejects(health.ready(), StoppingError);
    expect(store.asked).to.equal(asked);
  });
});

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
