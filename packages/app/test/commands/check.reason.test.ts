import { StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { type Pause, reasonNotReady } from '../../src/commands/check.js';

const LIMIT_MS = 4000;
const waiting = new StorageUnavailableError('no server yet');

describe('Why a part of the service is not ready', () => {
  /** The pending timers, by their delays. */
  const timers = new Map<number, () => void>();

  const pause: Pause = (ms, value, { signal }) =>
    new Promise((resolve, reject) => {
      timers.set(ms, () => resolve(value));
      signal.addEventListener('abort', () => {
        timers.delete(ms);
        reject(signal.reason);
      });
    });

  /** Lets one of these pending timers expire. */
  async function expire(ms: number, ...pending: number[]): Promise<void> {
    await new Promise(setImmediate);
    expect([...timers.keys()]).to.have.members(pending);
    timers.get(ms)?.();
    timers.delete(ms);
  }

  afterEach(() => expect([...timers.keys()]).to.deep.equal([]));

  it('is undefined when it is ready, at once or while it may still connect', async () => {
    const problems = [waiting, waiting];
    const part = {
      async ready() {
        const problem = problems.shift();
        if (problem) throw problem;
      },
    };
    const reason = reasonNotReady(part, LIMIT_MS, pause);
    for (const _ of [1, 2]) await expire(500, LIMIT_MS, 500);
    expect(await reason).to.equal(undefined);
    expect(await reasonNotReady(part, LIMIT_MS, pause)).to.equal(undefined);
  });

  it('is the last one after its time limit, or "no response"', async () => {
    const reason = reasonNotReady({ ready: () => Promise.reject(waiting) }, LIMIT_MS, pause);
    await expire(LIMIT_MS, LIMIT_MS, 500);
    expect(await reason).to.equal(waiting);
    const part = { ready: () => new Promise<void>(() => {}) };
    const none = reasonNotReady(part, LIMIT_MS, pause);
    await expire(LIMIT_MS, LIMIT_MS);
    expect(await none).to.have.property('message', 'no response');
  });
});
