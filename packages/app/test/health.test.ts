import { rejects } from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { StorageUnavailableError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';
import { expect } from 'chai';
import { Health } from '../src/health.js';
import type { StorageEvent } from '../src/telemetry/observer.js';

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

  function start(observer?: (event: StorageEvent) => void): void {
    health = new Health({ plantRepository: storage, tokenVerifier: tokens, observer });
  }

  for (const [what, part, problem] of [
    ['storage', () => storage, outage],
    ['token verifier', () => tokens, noKeys],
  ] as const) {
    it(`is bad with the reason until the ${what} was reached, and good in a later outage of it`, async () => {
      part().problem = problem;
      start();
      await rejects(health.ready(), problem);
      part().problem = undefined;
      await health.ready();
      part().problem = problem;
      await health.ready();
    });
  }

  it('is good when both parts were reached, but at different times', async () => {
    storage.problem = outage;
    start();
    await rejects(health.ready(), outage);
    storage.problem = undefined;
    tokens.problem = noKeys;
    await health.ready();
  });

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

  it('reports the changes of a storage that does not report them itself', async () => {
    const next = new EventEmitter();
    start((event) => next.emit('event', event));
    expect(await once(next, 'event')).to.deep.equal([{ type: 'storage reachable' }]);
    storage.problem = outage;
    const lost = { type: 'storage unreachable', error: outage };
    expect(await once(next, 'event')).to.deep.equal([lost]);
    storage.problem = undefined;
    expect(await once(next, 'event')).to.deep.equal([{ type: 'storage reachable' }]);
  });

  it('reports a bug of a storage as an outage, with the bug as its cause', async () => {
    const bug = new TypeError('a bug');
    storage.problem = bug;
    const reports: StorageEvent[] = [];
    start((event) => reports.push(event));
    await rejects(health.ready(), bug);
    expect(reports.at(-1)).to.have.nested.property('error.cause', bug);
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
