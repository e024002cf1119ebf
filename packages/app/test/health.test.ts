import { rejects } from 'node:assert/strict';
import {
  type StorageEvent,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';
import { expect } from 'chai';
import { Health } from '../src/health.js';

const DEADLINE = 15_000;
const SECOND = 1000;

const outage = new StorageUnavailableError('no primary', { waits: true });
const refusal = new StorageUnavailableError('the password is wrong');
const noKeys = new TokenVerifierUnavailableError('no keys');

/** A part whose state a test decides. */
class Part {
  asked = 0;
  ready: () => Promise<void> = () => this.#response();
  problem: Error | undefined;

  async #response(): Promise<void> {
    this.asked += 1;
    if (this.problem) throw this.problem;
  }
}

describe('The health of the service', () => {
  let storage: Part;
  let tokens: Part;
  let now: number;
  let health: Health;
  let reports: StorageEvent[];

  beforeEach(() => {
    storage = new Part();
    tokens = new Part();
    now = 0;
    reports = [];
    health = open();
  });

  afterEach(() => health.stop());

  function open(): Health {
    return new Health({
      plantRepository: storage,
      tokenVerifier: tokens,
      requestDeadline: DEADLINE,
      observer: (event) => reports.push(event),
      now: () => now,
    });
  }

  /** From now on the health of a service that has just started. */
  function restart(): void {
    health.stop();
    health = open();
  }

  async function after(milliseconds: number): Promise<void> {
    now += milliseconds;
    await health.ready();
  }

  async function startsOutage(): Promise<void> {
    await health.ready();
    storage.problem = outage;
    await after(SECOND);
  }

  it('is good when every part is ready, each asked at most once a second', async () => {
    for (let call = 0; call < 5; call += 1) await health.ready();
    expect([storage.asked, tokens.asked]).to.deep.equal([1, 1]);
    await after(SECOND);
    expect([storage.asked, tokens.asked]).to.deep.equal([2, 2]);
  });

  it('is bad until the storage was reached once, whatever creates would wait for', async () => {
    storage.problem = outage;
    restart();
    await rejects(health.ready(), outage);
    storage.problem = undefined;
    await after(SECOND);
  });

  it('stays good in an outage that creates wait for, until it has lasted the deadline', async () => {
    await startsOutage();
    await after(DEADLINE - 1);
    await rejects(after(1), outage);
    storage.problem = undefined;
    await after(SECOND);
  });

  it('does not add one outage to the next', async () => {
    await startsOutage();
    await after(DEADLINE - SECOND);
    storage.problem = undefined;
    await after(SECOND);
    storage.problem = outage;
    await after(SECOND);
    await after(DEADLINE - SECOND);
  });

  it('is bad at once when the storage refuses creates at once', async () => {
    await health.ready();
    storage.problem = refusal;
    await rejects(after(SECOND), refusal);
  });

  it('is bad at once, for the reason, when no token can be verified', async () => {
    await health.ready();
    tokens.problem = noKeys;
    await rejects(after(SECOND), noKeys);
  });

  it('knows since when an outage lasts though it is not asked', async () => {
    await health.ready();
    storage.problem = outage;
    const noticed = new Promise<void>((resolve) => {
      storage.ready = () => {
        resolve();
        return Promise.reject(outage);
      };
    });
    now = SECOND;
    await noticed;
    now = SECOND + DEADLINE;
    await rejects(health.ready(), outage);
  });

  it('reports whether the storage is reachable, at each change and from the start', async () => {
    await health.ready();
    await after(SECOND);
    storage.problem = outage;
    await after(SECOND);
    await after(SECOND);
    storage.problem = undefined;
    await after(SECOND);
    expect(reports).to.deep.equal([
      { type: 'storage reachable' },
      { type: 'storage unreachable', error: outage },
      { type: 'storage reachable' },
    ]);
  });

  it('takes a storage that does not respond for one out of reach', async () => {
    storage.ready = () => new Promise(() => {});
    restart();
    await rejects(health.ready(), StorageUnavailableError);
  });

  it('takes a token verifier that does not respond for one out of reach', async () => {
    tokens.ready = () => new Promise(() => {});
    restart();
    await rejects(health.ready(), TokenVerifierUnavailableError);
  });

  it('turns bad at the moment the service begins to stop', async () => {
    await health.ready();
    health.stop();
    await rejects(health.ready(), new StoppingError('the service is stopping'));
  });

  it('turns bad when the service begins to stop while a part is asked', async () => {
    await health.ready();
    storage.ready = async () => health.stop();
    now = SECOND;
    await rejects(health.ready(), new StoppingError('the service is stopping'));
  });
});
