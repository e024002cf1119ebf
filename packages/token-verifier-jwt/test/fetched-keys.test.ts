import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TokenVerifierUnavailableError } from '@plant-store/domain';
import type { TokenEvent } from '@plant-store/token-verifier-jwt';
import { expect } from 'chai';
import { after, type Clock, FetchedKeys } from '../src/fetched-keys.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const RESET = new Error('read ECONNRESET');

/** An issuer whose keys are a text, and the clock of its client. */
class Issuer implements Clock {
  keys = 'first';
  /** Why a fetch fails; `undefined` when it does not. */
  failure: Error | undefined;
  /** How long a fetch takes. */
  delayMs = 0;
  loads = 0;
  readonly events: TokenEvent[] = [];
  /** The clock on the wall, which can be set. */
  time = 0;
  #passedMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; act(): void }>();

  open(): FetchedKeys<string> {
    const load = (_: unknown, signal: AbortSignal) => this.#load(signal);
    const observer = (event: TokenEvent) => this.events.push(event);
    return new FetchedKeys({ load, clock: this, observer });
  }

  async #load(signal: AbortSignal): Promise<string> {
    this.loads += 1;
    if (this.failure !== undefined) throw this.failure;
    if (this.delayMs === 0) return this.keys;
    return new Promise((resolve, reject) => {
      const stopTimer = this.after(this.delayMs, () => resolve(this.keys));
      signal.addEventListener('abort', () => {
        stopTimer();
        reject(signal.reason);
      });
    });
  }

  now(): number {
    return this.time;
  }

  after(ms: number, act: () => void): () => void {
    const timer = { atMs: this.#passedMs + ms, act };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets time pass. Resolves when everything that is due then has happened. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#passedMs + ms;
    for (;;) {
      await nextTurn();
      const [next] = [...this.#timers].sort((a, b) => a.atMs - b.atMs);
      const atMs = Math.min(next?.atMs ?? endMs, endMs);
      this.time += atMs - this.#passedMs;
      this.#passedMs = atMs;
      if (next === undefined || next.atMs > endMs) return;
      this.#timers.delete(next);
      next.act();
    }
  }

  /** The messages of the causes for which fetches failed. */
  reasons(): unknown[] {
    return this.events.flatMap((event) =>
      event.type === 'issuer not reached' ? [(event.error.cause as Error).message] : [],
    );
  }
}

describe('Fetched keys', () => {
  let issuer: Issuer;
  let fetched: FetchedKeys<string>;

  /** Opens the keys of an issuer that a test has prepared. `afterEach` closes them. */
  function open(prepared: Partial<Pick<Issuer, 'failure' | 'delayMs'>> = {}) {
    issuer = Object.assign(new Issuer(), prepared);
    fetched = issuer.open();
    return fetched;
  }

  afterEach(() => fetched.close());

  it('are fetched without a request for them, and are fresh for 10 seconds', async () => {
    open();
    expect([fetched.trusted(), fetched.areFresh()]).to.deep.equal([undefined, false]);
    await fetched.ready();
    expect(issuer.events).to.deep.equal([{ type: 'issuer reached' }]);
    await issuer.pass(10 * SECOND);
    expect([fetched.trusted(), fetched.areFresh()]).to.deep.equal(['first', true]);
    await issuer.pass(1);
    expect(fetched.areFresh()).to.equal(false);
  });

  it('are fetched every 5 minutes, and 5 minutes after they were fetched again', async () => {
    open();
    await issuer.pass(4 * MINUTE);
    await fetched.fetchAgain();
    await issuer.pass(5 * MINUTE - 1);
    expect(issuer.loads).to.equal(2);
    await issuer.pass(1);
    expect(issuer.loads).to.equal(3);
    await issuer.pass(5 * MINUTE);
    expect(issuer.loads).to.equal(4);
  });

  it('are ready while they are fetched again', async () => {
    open();
    await fetched.ready();
    issuer.delayMs = HOUR;
    let ended = false;
    const again = fetched.fetchAgain().then(() => (ended = true));
    await fetched.ready();
    expect(ended).to.equal(false);
    await fetched.close();
    await again;
  });

  it('are fetched again for an unknown one, once in 10 seconds', async () => {
    open();
    await fetched.ready();
    issuer.keys = 'second';
    expect(await fetched.fetchAgain()).to.equal(true);
    expect(fetched.trusted()).to.equal('second');
    await issuer.pass(10 * SECOND - 1);
    expect(await fetched.fetchAgain()).to.equal(false);
    await issuer.pass(1);
    const both = [fetched.fetchAgain(), fetched.fetchAgain()];
    expect(await Promise.all(both)).to.deep.equal([true, true]);
    expect(issuer.loads).to.equal(3);
  });

  it('are fetched 10 seconds after a failure, and not for an unknown one before', async () => {
    open({ failure: RESET });
    await issuer.pass(10 * SECOND - 1);
    expect(await fetched.fetchAgain()).to.equal(false);
    issuer.failure = undefined;
    await issuer.pass(1);
    expect(fetched.trusted()).to.equal('first');
    expect(issuer.loads).to.equal(2);
  });

  for (const [what, direction] of Object.entries({ passes: 1, 'is set back': -1 })) {
    it(`are trusted until an hour of the clock ${what}, while every fetch fails`, async () => {
      open();
      await fetched.ready();
      issuer.failure = RESET;
      issuer.time += direction * (HOUR - 1);
      await fetched.fetchAgain();
      expect(fetched.trusted()).to.equal('first');
      await fetched.ready();
      issuer.time += direction;
      expect(fetched.trusted()).to.equal(undefined);
      await rejects(fetched.ready(), TokenVerifierUnavailableError);
    });
  }

  it('are unavailable, with the cause, when the first fetch fails', async () => {
    await rejects(open({ failure: RESET }).ready(), (error: TokenVerifierUnavailableError) => {
      expect(error).to.be.instanceOf(TokenVerifierUnavailableError);
      expect(error.cause).to.equal(RESET);
      return true;
    });
    expect(issuer.reasons()).to.deep.equal([RESET.message]);
  });

  describe('of an issuer that is slow', () => {
    const noResponse = (ms: number) => `no response within ${ms} ms`;

    it('are awaited for 1.5 seconds, and for longer after each fetch that timed out', async () => {
      open({ delayMs: HOUR });
      const reasons: string[] = [];
      for (const ms of [1_500, 6_000, 12_000, 12_000]) {
        await issuer.pass(ms - 1);
        expect(issuer.reasons()).to.deep.equal(reasons);
        await issuer.pass(1);
        reasons.push(noResponse(ms));
        expect(issuer.reasons()).to.deep.equal(reasons);
        await issuer.pass(10 * SECOND);
      }
    });

    it('are awaited no longer after another failure', async () => {
      open({ failure: RESET });
      await issuer.pass(SECOND);
      issuer.failure = undefined;
      issuer.delayMs = HOUR;
      await issuer.pass(9 * SECOND + 1_500);
      expect(issuer.reasons()).to.deep.equal([RESET.message, noResponse(1_500)]);
    });

    it('delay no call for more than 1.5 seconds, which names the reason', async () => {
      open({ delayMs: 11 * SECOND });
      await issuer.pass(11_500);
      const early = rejects(fetched.ready(), { cause: new Error(noResponse(1_500)) });
      await issuer.pass(1_500);
      await early;
      await issuer.pass(26 * SECOND);
      await fetched.ready();

      issuer.time += 10 * SECOND;
      const again = fetched.fetchAgain();
      await issuer.pass(1_500);
      expect(await again).to.equal(false);
      expect(fetched.unavailable().cause).to.deep.equal(new Error(noResponse(1_500)));
      await issuer.pass(HOUR);
      const reasons = [1_500, 6_000].map(noResponse);
      expect(issuer.reasons(), 'of the fetches that were given up').to.deep.equal(reasons);
    });
  });

  it('are no longer fetched after close, which ends the fetch under way', async () => {
    await open().ready();
    await fetched.close();
    await issuer.pass(HOUR);
    expect(issuer.loads).to.equal(1);

    const ready = rejects(open({ delayMs: HOUR }).ready(), {
      cause: new Error('the token verifier is closed'),
    });
    await fetched.close();
    await ready;
    await issuer.pass(HOUR);
    expect([issuer.loads, issuer.events]).to.deep.equal([1, []]);
  });
});

it('The timer of a verifier acts once, unless it is stopped, and keeps no process alive', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
  await nextTurn();
  const before = timers();
  let stopped = true;
  const stop = after(0, () => (stopped = false));
  expect(timers()).to.equal(before);
  stop();
  const kept = setInterval(() => undefined, HOUR);
  await new Promise<void>((resolve) => after(1, resolve));
  clearInterval(kept);
  expect(stopped).to.equal(true);
});
