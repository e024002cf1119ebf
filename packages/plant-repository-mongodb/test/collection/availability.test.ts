import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { Availability } from '../../src/collection/availability.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { RefusingDatabaseError, ServerReplyError } from '../../src/connection/server-code.js';
import { StorageEvents } from '../support/storage-events.js';
import { VirtualTime } from '../support/virtual-time.js';

const HOUR = 3_600_000;
const URI = 'mongodb://127.0.0.1:1/';

const refusedLogin = new ServerReplyError(18);
const lost = new Error('connect ECONNREFUSED');

describe('The availability of a database', () => {
  let time: VirtualTime;
  let client: MongoClient;
  let closing: AbortController;
  let availability: Availability;
  let events: StorageEvents;
  let checks: number[];
  /** How a check ends. */
  let check: () => Promise<void>;

  beforeEach(() => {
    time = new VirtualTime();
    client = createMongoClient(URI);
    closing = new AbortController();
    events = new StorageEvents();
    checks = [];
    check = async () => undefined;
  });

  afterEach(async () => {
    closing.abort();
    await client.close();
  });

  function open(): void {
    const counted = {
      run() {
        checks.push(time.now());
        return check();
      },
    };
    availability = new Availability(client, {
      hosts: '127.0.0.1:1',
      check: counted,
      observer: events.observer,
      closing: closing.signal,
      clock: time,
    });
  }

  const fail = (error: Error) => {
    check = () => Promise.reject(error);
  };

  /** What was reported: `reachable`, or the message and the cause. */
  const reported = () =>
    events.all.map((event) =>
      event.type === 'storage unreachable'
        ? [event.error.message, (event.error.cause as Error | undefined)?.message]
        : event.type,
    );

  async function runUntil(end: number): Promise<void> {
    time.after(end, () => closing.abort());
    await time.runOut(HOUR);
  }

  it('is checked every second, and reported once', async () => {
    open();
    await runUntil(3_500);
    expect(checks).to.deep.equal([0, 1000, 2000, 3000]);
    expect(reported()).to.deep.equal(['storage reachable']);
  });

  it('is checked less and less often while the credentials are refused, also by `ready`', async () => {
    fail(refusedLogin);
    open();
    time.after(500, () => void availability.ready().catch(() => undefined));
    await runUntil(40_000);
    expect(checks).to.deep.equal([0, 1000, 3000, 7000, 15_000, 23_000, 31_000, 39_000]);
    expect(reported()).to.have.length(1);
    expect(reported()[0]?.[0]).to.equal('the database at 127.0.0.1:1 refuses the credentials');
  });

  it('is reported again when the reason becomes another, so that events and `ready` agree', async () => {
    const agreements: Promise<void>[] = [];
    const agree = async () => {
      const problem = await availability.ready().catch((error: Error) => error.message);
      expect(events.of('storage unreachable').at(-1)?.error.message).to.equal(problem);
    };
    fail(refusedLogin);
    open();
    for (const [at, error] of [
      [1_000, refusedLogin],
      [3_200, lost],
      [4_200, new RefusingDatabaseError('it is a view')],
    ] as const) {
      time.after(at - 900, () => fail(error));
      time.after(at, () => agreements.push(agree()));
    }
    time.after(4_500, () => {
      check = async () => undefined;
    });
    await runUntil(6_000);
    await Promise.all(agreements);
    expect(reported().map((it) => (Array.isArray(it) ? it[0] : it))).to.deep.equal([
      'the database at 127.0.0.1:1 refuses the credentials',
      'the database at 127.0.0.1:1 is not reachable',
      'plants are refused: it is a view',
      'storage reachable',
    ]);
  });

  it('is reported again, once, when a database that did not respond shows the reason', async () => {
    const silent = new DOMException('x', 'TimeoutError');
    fail(silent);
    open();
    for (const error of [silent, lost, silent, lost]) {
      fail(error);
      await availability.ready().catch(() => undefined);
    }
    const message = 'the database at 127.0.0.1:1 is not reachable';
    expect(reported()).to.deep.equal([
      [message, 'the server does not respond'],
      [message, 'connect ECONNREFUSED'],
    ]);
  });

  it('refuses plants at once only when an administrator has to change something', async () => {
    for (const [error, refuses] of [
      [refusedLogin, true],
      [new RefusingDatabaseError('it is a view'), true],
      [lost, false],
    ] as const) {
      fail(error);
      open();
      await availability.ready().catch(() => undefined);
      expect(availability.refusal !== undefined, error.message).to.equal(refuses);
    }
  });

  it('lets plants wait for a check, together, until one has succeeded', async () => {
    fail(lost);
    open();
    const waiting = Array.from({ length: 20 }, () => availability.reached());
    for (const it of waiting) await rejects(it ?? Promise.resolve(), StorageUnavailableError);
    expect(checks).to.have.length(1);
    check = async () => undefined;
    await availability.reached();
    expect(availability.reached()).to.equal(undefined);
  });

  it('is not reported after it was closed', async () => {
    open();
    closing.abort();
    await runUntil(2_000);
    expect(reported()).to.deep.equal([]);
    expect(checks).to.deep.equal([0]);
  });
});
