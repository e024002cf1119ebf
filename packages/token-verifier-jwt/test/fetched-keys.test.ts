import { rejects } from 'node:assert/strict';
import { TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { FetchedKeys } from '../src/fetched-keys.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** An issuer whose keys are a text, and the clock of its client. */
class Issuer {
  keys = 'first';
  now = 0;
  /** Why a fetch fails; `undefined` when it does not. */
  failure: Error | undefined;
  isSilent = false;
  loads = 0;
  readonly reported: (Error | 'fetched')[] = [];
  fetched: () => void = () => undefined;

  open(refreshIntervalMs = HOUR): FetchedKeys<string> {
    return new FetchedKeys({
      load: (signal) => this.#load(signal),
      host: () => 'issuer.example',
      refreshIntervalMs,
      now: () => this.now,
      onFetched: () => {
        this.reported.push('fetched');
        this.fetched();
      },
      onFailed: (error) => this.reported.push(error),
    });
  }

  async #load(signal: AbortSignal): Promise<string> {
    this.loads += 1;
    if (this.failure !== undefined) throw this.failure;
    if (!this.isSilent) return this.keys;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  }
}

describe('Fetched keys', () => {
  let issuer: Issuer;
  let keys: FetchedKeys<string> | undefined;

  beforeEach(() => {
    issuer = new Issuer();
  });

  afterEach(() => keys?.close());

  /** Opens the keys of the issuer, which `afterEach` closes. */
  const open = (refreshIntervalMs?: number) => {
    keys = issuer.open(refreshIntervalMs);
    return keys;
  };

  it('are fetched without a request for them, and then keep no process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    await new Promise(setImmediate);
    const before = timers();
    const fetched = open();
    expect(fetched.trusted()).to.equal(undefined);
    await fetched.ready();
    expect(fetched.trusted()).to.equal('first');
    expect(issuer.reported).to.deep.equal(['fetched']);
    expect(timers()).to.be.at.most(before);
  });

  /** Resolves when the keys of another issuer were fetched 20 times at this interval. */
  const twentyIntervals = (refreshIntervalMs: number) =>
    new Promise<void>((resolve) => {
      const other = new Issuer();
      const others = other.open(refreshIntervalMs);
      other.fetched = () => other.loads === 20 && resolve(others.close());
    });

  it('are fetched regularly, and once for each interval after they were fetched again', async () => {
    const fetched = open(1);
    await fetched.ready();
    await fetched.fetchAgain();
    await twentyIntervals(1);
    expect(issuer.loads).to.be.at.most(30);
  });

  it('are not fetched after close', async () => {
    const fetched = open(1);
    await fetched.ready();
    await fetched.close();
    await twentyIntervals(1);
    expect(issuer.loads).to.equal(1);
  });

  it('are not fetched at the usual interval after a failure', async () => {
    issuer.failure = new Error('read ECONNRESET');
    await rejects(open(1).ready());
    await twentyIntervals(1);
    expect(issuer.loads).to.equal(1);
  });

  it('are ready while they are fetched again', async () => {
    const fetched = open();
    await fetched.ready();
    issuer.isSilent = true;
    let ended = false;
    const again = fetched.fetchAgain().then(() => (ended = true));
    await fetched.ready();
    expect(ended).to.equal(false);
    await fetched.close();
    await again;
  });

  it('are fetched again for an unknown one, once in 10 seconds', async () => {
    const fetched = open();
    await fetched.ready();
    issuer.keys = 'second';
    expect(await fetched.fetchAgain()).to.equal(true);
    expect(fetched.trusted()).to.equal('second');
    issuer.now += 10 * SECOND - 1;
    expect(await fetched.fetchAgain()).to.equal(false);
    issuer.now += 1;
    expect(await Promise.all([fetched.fetchAgain(), fetched.fetchAgain()])).to.deep.equal([
      true,
      true,
    ]);
    expect(issuer.loads).to.equal(3);
  });

  it('are not fetched for an unknown one within 10 seconds of a failure', async () => {
    issuer.failure = new Error('read ECONNRESET');
    const fetched = open();
    await rejects(fetched.ready());
    expect(await fetched.fetchAgain()).to.equal(false);
    issuer.now += 10 * SECOND;
    issuer.failure = undefined;
    expect(await fetched.fetchAgain()).to.equal(true);
    await fetched.ready();
  });

  it('are fresh for 10 seconds', async () => {
    const fetched = open();
    expect(fetched.areFresh()).to.equal(false);
    await fetched.ready();
    issuer.now += 10 * SECOND;
    expect(fetched.areFresh()).to.equal(true);
    issuer.now += 1;
    expect(fetched.areFresh()).to.equal(false);
  });

  for (const [what, direction] of Object.entries({ passes: 1, 'is set back': -1 })) {
    it(`are trusted until an hour of the clock ${what}, while every fetch fails`, async () => {
      const fetched = open();
      await fetched.ready();
      issuer.failure = new Error('read ECONNRESET');
      issuer.now += direction * (HOUR - 1);
      await fetched.fetchAgain();
      expect(fetched.trusted()).to.equal('first');
      await fetched.ready();
      issuer.now += direction;
      expect(fetched.trusted()).to.equal(undefined);
      await rejects(fetched.ready(), TokenVerifierUnavailableError);
    });
  }

  it('are unavailable, with the cause, when the first fetch fails', async () => {
    issuer.failure = new Error('read ECONNRESET');
    const fetched = open();
    const error: unknown = await fetched.ready().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(TokenVerifierUnavailableError);
    expect(error).to.have.property('cause', issuer.failure);
    expect(issuer.reported).to.have.length(1);
    expect(issuer.reported[0]).to.have.property('cause', issuer.failure);
  });

  it('are awaited for 1.5 seconds', async () => {
    issuer.isSilent = true;
    const message = 'no response from issuer.example within 1500 ms';
    await rejects(open().ready(), {
      code: 'TOKEN_VERIFIER_UNAVAILABLE',
      cause: new Error(message),
    });
  });

  it('are no longer fetched after close, which ends the fetch under way', async () => {
    issuer.isSilent = true;
    const fetched = open(1);
    const ready = rejects(fetched.ready(), { cause: new Error('the token verifier is closed') });
    await fetched.close();
    await ready;
    expect(issuer.reported).to.deep.equal([]);
    expect(issuer.loads).to.equal(1);
  });
});
