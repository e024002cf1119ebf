import type { StoreEvent } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import { Availability, StoreDegradedError } from '../src/availability.js';
import { databaseWith, found } from './support/database-with.js';
import { VirtualTime } from './support/virtual-time.js';

const HOUR = 3_600_000;

const refusedLogin = found('credentials refused', 'the user is unknown');
const view = found('unusable', 'it is a view');
const lost = found('unreachable', 'connect ECONNREFUSED');
const noPrimary = found('not now', 'there is no primary');
const refusal = found('plant refused', 'a trigger');
const crash = found('unknown', 'it crashes');
const noLookUps = found('no look-ups', 'reads reach a standby');
const slow = found('slow', 'writes are not acknowledged in time');

describe('The availability of a database', () => {
  let time: VirtualTime;
  let closing: AbortController;
  let availability: Availability;
  let events: StoreEvent[];
  let checks: number[];
  /** How a check ends. */
  let check: (signal: AbortSignal) => Promise<void>;

  beforeEach(() => {
    time = new VirtualTime();
    closing = new AbortController();
    events = [];
    checks = [];
    check = async () => undefined;
  });

  afterEach(() => closing.abort());

  function open(): void {
    const database = databaseWith({
      check(signal) {
        checks.push(time.now());
        return check(signal);
      },
    });
    const observer = (event: StoreEvent) => events.push(event);
    availability = new Availability({ database, observer, closing: closing.signal, clock: time });
  }

  const fail = (error: Error) => (check = () => Promise.reject(error));

  /** What was reported: `reachable`, or the message and the cause. */
  const reported = () =>
    events.map((event) =>
      event.type === 'store unreachable'
        ? [event.error.message, (event.error.cause as Error | undefined)?.message]
        : event.type,
    );

  async function runUntil(end: number): Promise<void> {
    time.after(end, () => closing.abort());
    await time.runOut(HOUR);
  }

  it('is checked every second, and reported only when it changes', async () => {
    open();
    time.after(1_500, () => fail(slow));
    time.after(3_500, () => (check = async () => undefined));
    await runUntil(5_500);
    expect(checks).to.deep.equal([0, 1000, 2000, 3000, 4000, 5000]);
    expect(reported()).to.deep.equal([
      'store reachable',
      ['the database at db.example:1 is slow', slow.message],
      'store reachable',
    ]);
  });

  it('is checked only every 8 s while the credentials are refused', async () => {
    fail(refusedLogin);
    open();
    time.after(500, () => void availability.ready().catch(() => undefined));
    await runUntil(40_000);
    expect(checks).to.deep.equal([0, 8000, 16_000, 24_000, 32_000]);
    expect(reported()).to.have.length(1);
    expect(reported()[0]?.[0]).to.equal('the database at db.example:1 refuses the credentials');
  });

  for (const [error, message, denies] of [
    [lost, 'the database at db.example:1 is not reachable', false],
    [noPrimary, 'the database at db.example:1 accepts no plants', false],
    [slow, 'the database at db.example:1 is slow', false],
    [noLookUps, 'the database at db.example:1 cannot look up plants', false],
    [refusedLogin, 'the database at db.example:1 refuses the credentials', true],
    [view, 'plants are refused: it is a view', true],
    [refusal, 'plants are refused: a trigger', true],
    [crash, 'the database at db.example:1 accepts no plants', false],
  ] as const) {
    it(`${denies ? 'rejects plants immediately' : 'lets plants wait'} when a check fails with "${error.message}"`, async () => {
      fail(error);
      open();
      const problem = await availability.ready().catch((it: Error) => it);
      expect(problem).to.have.property('message', message);
      const accepts = error === slow || error === noLookUps;
      expect(problem instanceof StoreDegradedError).to.equal(accepts);
      expect(events).to.deep.equal([{ type: 'store unreachable', error: problem }]);
      expect(availability.addError).to.equal(denies ? problem : undefined);
      expect([availability.wasReached, availability.isQuick]).to.deep.equal([accepts, false]);
      // Both asked for it.
      expect(checks).to.deep.equal([0]);
    });
  }

  it('is reported a second time when a silent server shows the reason', async () => {
    const ended: number[] = [];
    check = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended.push(time.now());
          reject(ended.length === 2 ? lost : signal.reason);
        });
      });
    open();
    await runUntil(9_000);
    const message = 'the database at db.example:1 is not reachable';
    expect(ended).to.deep.equal([1_500, 4_000, 6_500, 9_000]);
    expect(reported()).to.deep.equal([
      [message, 'the server does not respond'],
      [message, 'connect ECONNREFUSED'],
    ]);
  });

  it('is not reported after close', async () => {
    open();
    closing.abort();
    await runUntil(2_000);
    expect(reported()).to.deep.equal([]);
    expect(checks).to.deep.equal([0]);
  });
});
