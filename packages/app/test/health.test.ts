import { rejects } from 'node:assert/strict';
import {
  StorageSlowError,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';
import { expect } from 'chai';
import { Health } from '../src/health.js';

const outage = new StorageUnavailableError('no primary');
const noKeys = new TokenVerifierUnavailableError('no keys');

/** A part of the service; a test sets its state. */
class Part {
  asked = 0;
  problem: Error | undefined;

  async ready(): Promise<void> {
    this.asked += 1;
    if (this.problem) throw this.problem;
  }
}

describe('The health of the service', () => {
  let storage: Part;
  let tokens: Part;
  let health: Health;

  beforeEach(() => {
    storage = new Part();
    tokens = new Part();
  });

  afterEach(() => health.stop());

  function start(): void {
    health = new Health(storage, tokens);
  }

  for (const [what, part, other, problem] of [
    ['storage', () => storage, () => tokens, outage],
    ['token verifier', () => tokens, () => storage, noKeys],
  ] as const) {
    it(`is bad with the reason until the ${what} was reached, and good in a later outage`, async () => {
      part().problem = problem;
      start();
      // Nobody waits for this check.
      await new Promise(setImmediate);
      await rejects(health.ready(), problem);
      part().problem = undefined;
      other().problem = outage;
      await health.ready();
      part().problem = problem;
      await health.ready();
    });
  }

  it('asks both parts at once, no part after both were reached, and keeps no process alive', async () => {
    await new Promise(setImmediate);
    const running = process.getActiveResourcesInfo();
    start();
    expect(process.getActiveResourcesInfo()).to.deep.equal(running);
    await new Promise(setImmediate);
    expect(health.isReady).to.equal(true);
    for (let call = 0; call < 5; call += 1) await health.ready();
    expect([storage.asked, tokens.asked]).to.deep.equal([1, 1]);
  });

  it('is good when the storage is slow, since creates wait for it', async () => {
    storage.problem = new StorageSlowError('writes are not acknowledged in time');
    start();
    await health.ready();
    expect(health.isReady).to.equal(true);
  });

  it('is bad as soon as the service begins to stop, also during a check', async () => {
    storage.problem = outage;
    start();
    const during = rejects(health.ready(), new StoppingError('the service is stopping'));
    health.stop();
    await during;
    const { asked } = storage;
    await rejects(health.ready(), StoppingError);
    expect(storage.asked).to.equal(asked);
  });
});
