import { StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { reasonNotReady } from '../../src/commands/check.js';

const LIMIT_MS = 4000;
const waiting = new StorageUnavailableError('no server yet');

/** Timers that a test lets expire. */
class Pauses {
  readonly #open = new Map<number, () => void>();

  readonly pause = (ms: number, value: string, { signal }: { signal: AbortSignal }) =>
    new Promise<string>((resolve, reject) => {
      this.#open.set(ms, () => resolve(value));
      signal.addEventListener('abort', () => {
        this.#open.delete(ms);
        reject(signal.reason);
      });
    });

  /** The delays of the pending timers, in milliseconds. */
  get delays(): number[] {
    return [...this.#open.keys()];
  }

  expire(ms: number): void {
    this.#open.get(ms)?.();
    this.#open.delete(ms);
  }
}

describe('Why a part of the service is not ready', () => {
  let pauses: Pauses;

  beforeEach(() => {
    pauses = new Pauses();
  });

  const turn = () => new Promise(setImmediate);

  it('is undefined, without a wait, when it is ready', async () => {
    const part = { ready: async () => {} };
    expect(await reasonNotReady(part, LIMIT_MS, pauses.pause)).to.equal(undefined);
    expect(pauses.delays).to.deep.equal([]);
  });

  it('is requested again while the part may still connect', async () => {
    const problems = [waiting, waiting];
    const part = {
      async ready() {
        const problem = problems.shift();
        if (problem) throw problem;
      },
    };
    const reason = reasonNotReady(part, LIMIT_MS, pauses.pause);
    for (const left of [1, 0]) {
      await turn();
      expect(problems).to.have.length(left);
      expect(pauses.delays).to.have.members([LIMIT_MS, 500]);
      pauses.expire(500);
    }
    expect(await reason).to.equal(undefined);
    expect(pauses.delays).to.deep.equal([]);
  });

  it('is the last one after its time limit', async () => {
    const reason = reasonNotReady({ ready: () => Promise.reject(waiting) }, LIMIT_MS, pauses.pause);
    await turn();
    pauses.expire(LIMIT_MS);
    expect(await reason).to.equal(waiting);
    expect(pauses.delays).to.deep.equal([]);
  });

  it('is "no response" when the part never responds', async () => {
    const part = { ready: () => new Promise<void>(() => {}) };
    const reason = reasonNotReady(part, LIMIT_MS, pauses.pause);
    await turn();
    expect(pauses.delays).to.deep.equal([LIMIT_MS]);
    pauses.expire(LIMIT_MS);
    expect(await reason).to.have.property('message', 'no response');
  });
});
