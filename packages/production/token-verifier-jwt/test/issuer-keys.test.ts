import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TokenVerifierUnavailableError } from '@plant-store/domain';
import type { TokenEvent } from '@plant-store/token-verifier-jwt';
import { expect } from 'chai';
import { type FetchClock, type FetchKeys, IssuerKeys } from '../src/issuer-keys.js';
import { type IssuerKey, issuerKey } from './support/fake-issuer.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const RESET = new Error('read ECONNRESET');
const KEYS_URL = new URL('https://login.example/keys?code=s3cret');

/** An issuer, and the clock of its client. */
class Issuer implements FetchClock {
  keys: readonly IssuerKey[] = [];
  /** Why a fetch fails; `undefined` when it does not. */
  failure: Error | undefined;
  delayMs = 0;
  loads = 0;
  /** The outcomes of fetches: why one failed, or `reached`. */
  readonly outcomes: unknown[] = [];
  #time = 0;
  readonly #timers = new Set<{ readonly at: number; act(): void }>();

  /** Responds with the keys that it has when the fetch begins. */
  readonly fetchKeys: FetchKeys = async (signal, fetching) => {
    this.loads += 1;
    fetching(KEYS_URL);
    const keys = this.keys.map(({ published }) => published);
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      this.after(this.delayMs, resolve);
    });
    if (this.failure !== undefined) throw this.failure;
    return { keys };
  };

  now(): number {
    return this.#time;
  }

  after(ms: number, act: () => void): void {
    this.#timers.add({ at: this.#time + ms, act });
  }

  /** Lets time pass. Resolves when everything that is due then has happened. */
  async pass(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at);
      this.#time = Math.min(next?.at ?? end, end);
      if (next === undefined || next.at > end) return;
      this.#timers.delete(next);
      next.act();
    }
  }
}

describe("An issuer's keys", () => {
  let first: IssuerKey;
  let second: IssuerKey;
  let issuer: Issuer;
  let keys: IssuerKeys;
  let closing: AbortController;

  before(async () => {
    [first, second] = [await issuerKey('first'), await issuerKey('second')];
  });

  /** Opens the keys of an issuer that a test has prepared, and lets time pass. */
  async function open(prepared: Partial<Issuer> = {}, ms = MINUTE): Promise<void> {
    issuer = Object.assign(new Issuer(), { keys: [first] }, prepared);
    closing = new AbortController();
    const observer = (event: TokenEvent) =>
      issuer.outcomes.push(event.type === 'issuer not reached' ? event.error.cause : 'reached');
    keys = new IssuerKeys(issuer.fetchKeys, issuer, observer, closing.signal);
    await issuer.pass(ms);
  }

  afterEach(() => closing.abort());

  /** Checks a token that names a key. The verdict is set once it is known. */
  function token(kid: string): { verdict: unknown } {
    const found = { verdict: undefined as unknown };
    const decide = async () => {
      for await (const fitting of keys.fitting({ alg: 'ES256', kid }))
        if (fitting.length > 0) return 'accepted';
      return 'refused';
    };
    decide().then(
      (verdict) => (found.verdict = verdict),
      (error: TokenVerifierUnavailableError) => (found.verdict = error.cause ?? error),
    );
    return found;
  }

  it('are fetched at construction, every 5 minutes, and 10 seconds after failures', async () => {
    await open({ failure: RESET }, 20 * SECOND - 1);
    issuer.failure = undefined;
    expect([keys.areTrusted, issuer.loads]).to.deep.equal([false, 2]);
    await issuer.pass(1);
    expect([keys.areTrusted, issuer.loads]).to.deep.equal([true, 3]);
    await issuer.pass(10 * MINUTE - 1);
    expect(issuer.outcomes).to.deep.equal([RESET, RESET, 'reached', 'reached']);
    await issuer.pass(1);
    expect(issuer.outcomes).to.deep.equal([RESET, RESET, 'reached', 'reached', 'reached']);
  });

  it('are given up after 12 seconds without a response', async () => {
    await open({ delayMs: HOUR }, 12 * SECOND - 1);
    expect(issuer.outcomes).to.deep.equal([]);
    await issuer.pass(1);
    expect(issuer.outcomes).to.deep.equal([new Error('no response within 12000 ms')]);
  });

  it('are trusted for an hour while fetches fail, and again after success', async () => {
    await open();
    issuer.failure = RESET;
    await issuer.pass(58 * MINUTE);
    const known = token('first');
    await issuer.pass(MINUTE - 1);
    expect([known.verdict, keys.areTrusted]).to.deep.equal(['accepted', true]);
    await keys.ready();
    await issuer.pass(1);
    expect(keys.areTrusted).to.equal(false);
    await rejects(keys.ready(), { cause: RESET });
    issuer.failure = undefined;
    await issuer.pass(10 * SECOND);
    expect(keys.areTrusted).to.equal(true);
  });

  it('are fetched immediately for the first unknown key, then once a second', async () => {
    await open();
    issuer.keys = [first, second];
    const tokens = [token('second'), token('forged')];
    await issuer.pass(0);
    expect(tokens.map((it) => it.verdict)).to.deep.equal(['accepted', 'refused']);
    const later = [token('forged'), token('another')];
    await issuer.pass(SECOND - 1);
    later.push(token('forged'));
    expect(issuer.loads).to.equal(2);
    expect(later.map((it) => it.verdict)).to.deep.equal([undefined, undefined, undefined]);
    await issuer.pass(1);
    expect(issuer.loads).to.equal(3);
    expect(later.map((it) => it.verdict)).to.deep.equal(['refused', 'refused', 'refused']);
  });

  it('are fetched again for a token that arrives during a fetch', async () => {
    await open({ delayMs: 200 });
    const earlier = token('forged');
    await issuer.pass(100);
    issuer.keys = [first, second];
    const late = token('second');
    await issuer.pass(100);
    expect([earlier.verdict, late.verdict]).to.deep.equal(['refused', undefined]);
    await issuer.pass(SECOND);
    expect([late.verdict, issuer.loads]).to.deep.equal(['accepted', 3]);
  });

  it('delay no token with a known key while another key is unknown', async () => {
    await open({ delayMs: SECOND });
    token('forged');
    await issuer.pass(0);
    const known = token('first');
    await issuer.pass(0);
    expect(known.verdict).to.equal('accepted');
  });

  it('are not fetched for tokens within 10 seconds of a failure', async () => {
    await open({ failure: RESET });
    issuer.loads = 0;
    await issuer.pass(10 * SECOND - 1);
    const unknown = token('first');
    await issuer.pass(0);
    expect([unknown.verdict, issuer.loads]).to.deep.equal([RESET, 0]);

    await open();
    issuer.failure = RESET;
    const failed = token('second');
    await issuer.pass(10 * SECOND - 1);
    const early = token('second');
    await issuer.pass(0);
    expect([failed.verdict, early.verdict, issuer.loads]).to.deep.equal([RESET, RESET, 2]);
    issuer.failure = undefined;
    issuer.keys = [second];
    await issuer.pass(1);
    const next = token('second');
    await issuer.pass(0);
    expect(next.verdict).to.equal('accepted');
  });

  it('never delay a call for more than 1.5 seconds', async () => {
    await open({ delayMs: 4 * SECOND }, 0);
    const late = new Error('https://login.example/keys: no response within 1500 ms');
    const ready = rejects(keys.ready(), { name: 'TokenVerifierUnavailableError', cause: late });
    const early = token('first');
    await issuer.pass(1_500);
    await ready;
    expect(early.verdict).to.deep.equal(late);
    await issuer.pass(2_500);
    await keys.ready();
    expect([issuer.loads, ...issuer.outcomes]).to.deep.equal([1, 'reached']);
  });

  it('are no longer fetched after close, which ends the fetch under way', async () => {
    await open({ delayMs: HOUR }, 0);
    const waiting = token('first');
    await issuer.pass(0);
    const closed = new TokenVerifierUnavailableError('closed');
    closing.abort(closed);
    await issuer.pass(HOUR);
    expect([waiting.verdict, issuer.loads, ...issuer.outcomes]).to.deep.equal([closed, 1]);
  });
});
