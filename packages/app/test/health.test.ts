import { rejects } from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
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

  describe('reports as unavailable after 2 seconds', () => {
    const { setTimeout } = timers;
    let waits: number[];
    let signals: AbortSignal[];

    /** Has every wait end at once, or when it is given up. */
    beforeEach(() => {
      waits = [];
      signals = [];
      const wait = async (ms: number, _: undefined, { signal }: { signal: AbortSignal }) => {
        waits.push(ms);
        signals.push(signal);
      };
      Object.assign(timers, { setTimeout: wait });
      syncBuiltinESMExports();
    });

    afterEach(() => {
      Object.assign(timers, { setTimeout });
      syncBuiltinESMExports();
    });

    it('a storage that does not respond', async () => {
      storage.ready = () => new Promise(() => {});
      restart();
      await rejects(
        health.ready(),
        new StorageUnavailableError('the storage does not respond', { waits: true }),
      );
      expect(waits).to.deep.equal([2000, 2000]);
    });

    it('and stops its timers when all parts have responded', async () => {
      restart();
      await health.ready();
      expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
    });

    it('a token verifier that does not respond', async () => {
      tokens.ready = () => new Promise(() => {});
      restart();
      await rejects(
        health.ready(),
        new TokenVerifierUnavailableError('the token verifier does not respond'),
      );
    });
  });

  it('stays good when the storage stops responding, since creates wait for it', async () => {
    await health.ready();
    storage.problem = outage;
    await after(SECOND_MS);
    storage.problem = new StorageUnavailableError('the storage does not respond', { waits: true });
    await after(SECOND_MS);
  });

  it('uses the clock of the process by default', async () => {
    health.stop();
    health = new Health({ plantRepository: storage, tokenVerifier: tokens, requestDeadlineMs: 1 });
    await health.ready();
    await health.ready();
    expect(storage.asked).to.equal(2);
  });

  it('asks no part after the service has begun to stop', async () => {
    await health.ready();
    health.stop();
    now += SECOND_MS;
    await rejects(health.ready(), StoppingError);
    expect(storage.asked).to.equal(1);
  });

  it('reports a bug of a storage as an outage, with the bug as its cause', async () => {
    const bug = new TypeError('a bug');
    storage.problem = bug;
    restart();
    await rejects(health.ready(), bug);
    const error = new StorageUnavailableError('the storage is not ready', { cause: bug });
    expect(reports.at(-1)).to.deep.equal({ type: 'storage unreachable', error });
    expect(reports.at(-1)).to.have.nested.property('error.cause', bug);
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
