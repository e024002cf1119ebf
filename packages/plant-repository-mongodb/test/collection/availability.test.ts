import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { Availability } from '../../src/collection/availability.js';
import { Disclosure } from '../../src/connection/disclosure.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { RefusingDatabaseError, ServerReplyError } from '../../src/connection/server-code.js';
import { StorageEvents } from '../support/storage-events.js';
import { VirtualTime } from '../support/virtual-time.js';

const HOUR = 3_600_000;
const URI = 'mongodb://127.0.0.1:1/';

const refusedLogin = new ServerReplyError(18);
const lost = new Error('connect ECONNREFUSED');

interface Server {
  readonly type: string;
  readonly error?: Error;
  readonly isWritable?: boolean;
}

const PRIMARY: Server = { type: 'RSPrimary', isWritable: true };
const LOOKING: Server = { type: 'Unknown' };
const LOST: Server = { type: 'Unknown', error: lost };

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
    time.install();
    client = createMongoClient(URI);
    closing = new AbortController();
    events = new StorageEvents();
    checks = [];
    check = async () => undefined;
  });

  afterEach(async () => {
    closing.abort();
    time.uninstall();
    await client.close();
  });

  function open(): void {
    const counted = {
      run() {
        checks.push(performance.now());
        return check();
      },
    };
    const disclosure = new Disclosure(URI, client);
    availability = new Availability(client, disclosure, counted, events.observer, closing.signal);
  }

  const emit = (event: string, argument?: object) =>
    Reflect.apply(client.emit, client, [event, argument]);

  /** What the driver knows of the servers now. */
  function know(...servers: Server[]): void {
    const entries = servers.map((server, at) => {
      return [`host${at}`, { error: null, isWritable: false, ...server }] as const;
    });
    const newDescription = { type: 'ReplicaSetWithPrimary', servers: new Map(entries) };
    emit('topologyDescriptionChanged', { newDescription });
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

  /** Checks once, and expects that `ready` and the last event agree. */
  async function expectAgreement(): Promise<void> {
    const problem = await availability.ready().catch((error: unknown) => error);
    const last = events.all.at(-1);
    expect(problem).to.have.property('message');
    expect(last).to.have.nested.property('error.message', (problem as Error).message);
  }

  async function runUntil(end: number): Promise<void> {
    setTimeout(() => closing.abort(), end);
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
    setTimeout(() => void availability.ready().catch(() => undefined), 500);
    await runUntil(40_000);
    expect(checks).to.deep.equal([0, 1000, 3000, 7000, 15_000, 23_000, 31_000, 39_000]);
    expect(reported()).to.have.length(1);
    expect(reported()[0]?.[0]).to.equal('the database at 127.0.0.1:1 refuses the credentials');
  });

  it('is reported again when the reason becomes another, so that events and `ready` agree', async () => {
    fail(refusedLogin);
    open();
    await availability.ready().catch(() => undefined);
    await expectAgreement();
    fail(lost);
    know(LOOKING);
    await expectAgreement();
    know(LOST);
    await expectAgreement();
    fail(new RefusingDatabaseError('it is a view'));
    await expectAgreement();
    check = async () => undefined;
    await availability.ready();
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

  it('ends at once when the primary is lost, and begins with the next check when there is one', async () => {
    open();
    know(PRIMARY);
    await availability.ready();
    fail(lost);
    know(LOST);
    expect(reported().at(-1)).to.deep.equal([
      'the database at 127.0.0.1:1 is not reachable',
      'connect ECONNREFUSED',
    ]);
    const before = checks.length;
    check = async () => undefined;
    know(PRIMARY);
    expect(checks).to.have.length(before + 1);
    await availability.ready();
    expect(reported().at(-1)).to.equal('storage reachable');
  });

  it('does not end when another member refuses the login', async () => {
    open();
    know(PRIMARY);
    await availability.ready();
    know(PRIMARY, { type: 'Unknown', error: refusedLogin });
    expect(availability.refusal).to.equal(undefined);
    expect(reported()).to.deep.equal(['storage reachable']);
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

  it('lets plants wait for the next check, together, until one has succeeded', async () => {
    fail(lost);
    open();
    const waiting = Array.from({ length: 20 }, () => availability.reached());
    expect(new Set(waiting)).to.have.property('size', 1);
    await rejects(waiting[0] ?? Promise.resolve(), StorageUnavailableError);
    check = async () => undefined;
    const next = availability.reached();
    await availability.ready();
    await next;
    expect(availability.reached()).to.equal(undefined);
  });

  it('is not reported after it was closed', async () => {
    open();
    closing.abort();
    know(LOST);
    await runUntil(2_000);
    expect(reported()).to.deep.equal([]);
    expect(checks).to.deep.equal([0]);
  });

  it('closes a client that opens after the availability was closed', async () => {
    let closed = 0;
    const { close } = client;
    client.close = async () => {
      closed += 1;
    };
    open();
    emit('topologyOpening');
    expect(closed).to.equal(0);
    closing.abort();
    emit('topologyOpening');
    expect(closed).to.equal(1);
    client.close = close;
  });
});
