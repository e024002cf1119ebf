import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { DatabaseWatch } from '../../src/connection/database-watch.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { ServerReplyError } from '../../src/connection/server-code.js';
import { VirtualTime } from '../support/virtual-time.js';

const HOUR = 3_600_000;
const SILENT = 'the server does not respond';
const PASSWORD =
  'the user name or the password is wrong, or authSource is not the database of the user';

const refusal = new ServerReplyError(18);
const unreachable = new Error('connect ECONNREFUSED');

interface Server {
  readonly type: string;
  readonly error?: Error;
  readonly isWritable?: boolean;
}

const PRIMARY: Server = { type: 'RSPrimary', isWritable: true };
const LOOKING: Server = { type: 'Unknown' };
const LOST: Server = { type: 'Unknown', error: unreachable };
const REFUSED: Server = { type: 'Unknown', error: refusal };

describe('The watch of a database', () => {
  let time: VirtualTime;
  let client: MongoClient;
  let closing: AbortController;
  let watch: DatabaseWatch;
  let events: string[];
  let attempts: number[];
  /** How an attempt to log in ends. By default it hangs. */
  let logIn: () => Promise<unknown>;

  beforeEach(() => {
    time = new VirtualTime();
    time.install();
    client = createMongoClient('mongodb://127.0.0.1:1/');
    closing = new AbortController();
    events = [];
    attempts = [];
    logIn = () => new Promise(() => {});
  });

  afterEach(async () => {
    closing.abort();
    time.uninstall();
    await client.close();
  });

  function open(): void {
    const attempt = () => {
      attempts.push(performance.now());
      return logIn();
    };
    const listener = {
      reachable: (kind: string) => events.push(`${performance.now()}: ${kind}`),
      unreachable: (reason: string, { message }: Error) =>
        events.push(`${performance.now()}: ${reason}, ${message}`),
    };
    watch = new DatabaseWatch(client, attempt, listener, closing.signal);
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

  /** Lets time pass in which `act` happens after so many milliseconds. */
  function after(ms: number, act: () => void): void {
    setTimeout(act, ms);
  }

  const runOut = () => time.runOut(HOUR);

  it('reports a silent server after one and a half seconds', async () => {
    open();
    expect(watch.problem).to.equal(undefined);
    await runOut();
    expect(events).to.deep.equal([`1500: no server, ${SILENT}`]);
    expect(watch.problem).to.have.property('message', SILENT);
  });

  it('reports a database as reachable once it takes writes and has accepted the credentials', async () => {
    logIn = async () => undefined;
    open();
    await runOut();
    know(PRIMARY);
    know(PRIMARY);
    expect(events.slice(-1)).to.deep.equal(['1500: other']);
    expect(watch.problem).to.equal(undefined);
    expect(attempts).to.deep.equal([0]);
  });

  it('reports only that a database is reachable when it is reachable in time', async () => {
    logIn = async () => undefined;
    open();
    know({ type: 'Standalone', isWritable: true });
    await runOut();
    expect(events).to.deep.equal(['0: standalone']);
  });

  it('does not report a server as reachable before it has accepted the credentials', async () => {
    open();
    know(PRIMARY);
    await runOut();
    expect(events).to.deep.equal(['1500: no server, the server does not respond']);
  });

  it('tries to log in every second while no server is found', async () => {
    logIn = () => Promise.reject(unreachable);
    open();
    after(4_500, () => closing.abort());
    await runOut();
    expect(attempts).to.deep.equal([0, 1000, 2000, 3000, 4000]);
    expect(events).to.deep.equal(['0: no server, connect ECONNREFUSED']);
  });

  it('tries to log in less and less often while the credentials are refused', async () => {
    logIn = () => Promise.reject(refusal);
    open();
    after(40_000, () => closing.abort());
    await runOut();
    expect(attempts).to.deep.equal([0, 1000, 3000, 7000, 15_000, 23_000, 31_000, 39_000]);
    expect(events).to.deep.equal([`0: credentials, ${PASSWORD}`]);
    expect(watch.problem).to.have.property('message', PASSWORD);
  });

  it('reports each change, with the latest problem', async () => {
    logIn = async () => undefined;
    open();
    know(PRIMARY);
    await runOut();
    know(LOST);
    know(LOST, LOST);
    expect(watch.problem).to.have.property('message', 'connect ECONNREFUSED');
    know({ type: 'RSGhost' });
    expect(watch.problem).to.have.property(
      'message',
      'the replica set is not initiated: run rs.initiate()',
    );
    know(PRIMARY);
    expect(events).to.deep.equal([
      '0: other',
      '1500: no server, connect ECONNREFUSED',
      '1500: other',
    ]);
    expect(watch.problem).to.equal(undefined);
  });

  it('reports credentials that are refused later, and logs in until they are accepted again', async () => {
    const replies = [async () => undefined, () => Promise.reject(refusal), async () => undefined];
    logIn = () => (replies.shift() ?? (async () => undefined))();
    open();
    know(PRIMARY);
    await runOut();
    know(PRIMARY, REFUSED);
    know(PRIMARY, REFUSED);
    know(PRIMARY);
    await runOut();
    expect(attempts).to.deep.equal([0, 1500, 2500]);
    expect(events).to.deep.equal(['0: other', `1500: credentials, ${PASSWORD}`, '2500: other']);
  });

  for (const [what, ...servers] of [
    ['before a server is known'],
    ['while one is looked for', LOST, LOOKING],
  ] as [string, ...Server[]][]) {
    it(`reports nothing at once ${what}`, () => {
      open();
      know(...servers);
      expect(events).to.deep.equal([]);
    });
  }

  it('reports at once that no server takes writes, when all are known', () => {
    open();
    know(LOST, { type: 'RSSecondary' });
    expect(events).to.deep.equal([
      '0: no server, the replica set has no primary: connect ECONNREFUSED',
    ]);
  });

  it('reports at once that a database is lost, also while a server is looked for', async () => {
    logIn = async () => undefined;
    open();
    know(PRIMARY);
    await runOut();
    know(LOOKING);
    expect(events).to.deep.equal(['0: other', `1500: no server, ${SILENT}`]);
  });

  it('reports nothing and does nothing after it was closed', async () => {
    let reply: () => void = () => undefined;
    logIn = () =>
      new Promise<void>((resolve) => {
        reply = resolve;
      });
    open();
    closing.abort();
    know(LOST);
    know(PRIMARY);
    reply();
    await runOut();
    know(REFUSED);
    await runOut();
    expect(events).to.deep.equal([]);
    expect(attempts).to.deep.equal([0]);
  });

  it('closes a client that opens after the watch was closed', async () => {
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
