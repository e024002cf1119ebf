import { rejects } from 'node:assert/strict';
import {
  type StorageEvent,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';
import { expect } from 'chai';
import { Health } from '../src/health.js';

const DEADLINE_MS = 15_000;
const SECOND_MS = 1000;

const outage = new StorageUnavailableError('no primary', { waits: true });
const refusal = new StorageUnavailableError('the password is wrong');
const noKeys = new TokenVerifierUnavailableError('no keys');

/** A part of the service; a test sets its state. */
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
      requestDeadlineMs: DEADLINE_MS,
      observer: (event) => reports.push(event),
      now: () => now,
    });
  }

  /** Replaces `health` with that of a service that has just started. */
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
    await after(SECOND_MS);
  }

  it('is ready when both parts are ready, which are checked at most once a second', async () => {
    for (let call = 0; call < 5; call += 1) await health.ready();
    expect([storage.asked, tokens.asked]).to.deep.equal([1, 1]);
    await after(SECOND_MS);
    expect([storage.asked, tokens.asked]).to.deep.equal([2, 2]);
  });

  it('is not ready until the storage was reached once, also when creates would wait', async () => {
    storage.problem = outage;
    restart();
    await rejects(health.ready(), outage);
    storage.problem = undefined;
    await after(SECOND_MS);
  });

  it('stays ready in an outage in which creates wait, until it has lasted as long as the deadline', async () => {
    await startsOutage();
    await after(DEADLINE_MS - 1);
    await rejects(after(1), outage);
    storage.problem = undefined;
    await after(SECOND_MS);
  });

  it('counts the duration of each outage separately', async () => {
    await startsOutage();
    await after(DEADLINE_MS - SECOND_MS);
    storage.problem = undefined;
    await after(SECOND_MS);
    storage.problem = outage;
    await after(SECOND_MS);
    await after(DEADLINE_MS - SECOND_MS);
  });

  it('is not ready as soon as the storage refuses creates at once', async () => {
    await health.ready();
    storage.problem = refusal;
    await rejects(after(SECOND_MS), refusal);
  });

  it('is not ready, with the reason, as soon as no token can be verified', async () => {
    await health.ready();
    tokens.problem = noKeys;
    await rejects(after(SECOND_MS), noKeys);
  });

  it('notices the start of an outage without a health request', async () => {
    await health.ready();
    storage.problem = outage;
    const noticed = new Promise<void>((resolve) => {
      storage.ready = () => {
        resolve();
        return Promise.reject(outage);
      };
    });
    now = SECOND_MS;
    await noticed;
    now = SECOND_MS + DEADLINE_MS;
    await rejects(health.ready(), outage);
  });

  it('reports at the start, and at each change, whether the storage is reachable', async () => {
    await health.ready();
    await after(SECOND_MS);
    storage.problem = outage;
    await after(SECOND_MS);
    await after(SECOND_MS);
    storage.problem = undefined;
    await after(SECOND_MS);
    expect(reports).to.deep.equal([
      { type: 'storage reachable' },
      { type: 'storage unreachable', error: outage },
      { type: 'storage reachable' },
    ]);
  });

  it('is not ready when the storage does not respond', async () => {
    storage.ready = () => new Promise(() => {});
    restart();
    await rejects(health.ready(), StorageUnavailableError);
  });

  it('is not ready when the token verifier does not respond', async () => {
    tokens.ready = () => new Promise(() => {});
    restart();
    await rejects(health.ready(), TokenVerifierUnavailableError);
  });

  it('is not ready as soon as the service begins to stop', async () => {
    await health.ready();
    health.stop();
    await rejects(health.ready(), new StoppingError('the service is stopping'));
  });

  it('is not ready when the service begins to stop during a check', async () => {
    await health.ready();
    storage.ready = async () => health.stop();
    now = SECOND_MS;
    await rejects(health.ready(), new StoppingError('the service is stopping'));
  });
});
