import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { type Db, type Document, Long, type MongoClient, MongoServerError } from 'mongodb';
import { MongoPlantCollection } from '../../src/collection/mongo-plant-collection.js';
import { toDocument } from '../../src/collection/plant-document.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { ServerReplyError } from '../../src/connection/server-code.js';
import { plant } from '../support/plant.js';
import { VirtualTime } from '../support/virtual-time.js';

const TIME_LIMIT = 1_000;
const unauthorized = new MongoServerError({ message: 'no', code: 13, ok: 0 });

const PRIVILEGES = {
  authInfo: {
    authenticatedUsers: [{ user: 'plant-store', db: 'admin' }],
    authenticatedUserPrivileges: [
      { resource: { db: 'garden', collection: 'plants' }, actions: ['insert'] },
    ],
  },
};

describe('The commands of a collection', () => {
  let client: MongoClient;
  let db: Db;
  let collection: MongoPlantCollection;
  let commands: Document[];
  let options: Document[];
  let denials: number;
  /** What the server replies. A command that was not sent ends with its signal. */
  let reply: (command: Document) => Promise<Document>;

  beforeEach(() => {
    client = createMongoClient('mongodb://127.0.0.1:1/');
    db = client.db('garden');
    commands = [];
    options = [];
    denials = 0;
    reply = async () => ({ n: 1, ok: 1 });
    db.command = (command, given = {}) => {
      commands.push(command);
      options.push(given);
      return Promise.race([reply(command), aborted(given.signal)]);
    };
    collection = new MongoPlantCollection(client, db, 'plants', {
      unauthorized: () => {
        denials += 1;
      },
      disclose: (error) =>
        error instanceof MongoServerError ? new ServerReplyError(Number(error.code)) : error,
    });
  });

  afterEach(() => client.close());

  function aborted(signal: AbortSignal | undefined): Promise<never> {
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  }

  /** As the driver reports a command that it sends. */
  const sent = (command: Document = {}) =>
    Reflect.apply(client.emit, client, ['commandStarted', { command }]);

  const later = () => new Promise((resolve) => setImmediate(resolve, 'later'));

  const insert = () => collection.insert([toDocument(plant(1n))], TIME_LIMIT);
  const never = () => new Promise<never>(() => {});

  it('insert at the primary, durably, unordered, each with its own comment', async () => {
    const documents = [toDocument(plant(1n)), toDocument(plant(2n))];
    const first = await collection.insert(documents, TIME_LIMIT).result;
    await insert().result;
    expect(first).to.deep.equal({ n: 1, writeErrors: [] });
    expect(commands[0]).to.deep.equal({
      ...{ insert: 'plants', documents, ordered: false },
      ...{ writeConcern: { w: 'majority', j: true }, comment: 'plant-store insert 1' },
    });
    expect(commands[1]).to.have.property('comment', 'plant-store insert 2');
    expect(options[0]).to.have.property('readPreference', 'primary');
  });

  it('report the errors of single documents', async () => {
    const writeErrors = [{ index: 0, code: 11000 }];
    reply = async () => ({ n: 0, writeErrors, ok: 1 });
    expect(await insert().result).to.deep.equal({ n: 0, writeErrors });
  });

  it('end an insert at its time limit only when it was sent', async () => {
    const time = new VirtualTime();
    time.install();
    try {
      reply = never;
      const [waiting, underWay] = [insert(), insert()];
      sent(commands[1]);
      sent(commands[1]);
      sent({ comment: 'of another' });
      expect([waiting.sent, underWay.sent]).to.deep.equal([false, true]);
      await time.runOut(TIME_LIMIT);
      const error = new Error('the insert timed out');
      expect(await underWay.result).to.deep.equal({ sent: true, error });
      expect(await Promise.race([waiting.result, later()])).to.equal('later');
      waiting.abort();
      expect(await waiting.result).to.deep.equal({ sent: false, error });
    } finally {
      time.uninstall();
    }
  });

  it('leave no timer after the reply to an insert', async () => {
    const time = new VirtualTime();
    time.install();
    try {
      let respond: (reply: Document) => void = () => undefined;
      reply = () =>
        new Promise((resolve) => {
          respond = resolve;
        });
      const attempt = insert();
      sent(commands[0]);
      respond({ n: 1 });
      await attempt.result;
      await time.runOut(0);
    } finally {
      time.uninstall();
    }
  });

  it('abort only the inserts that were not sent when plants are refused', async () => {
    reply = never;
    const [waiting, underWay] = [insert(), insert()];
    sent(commands[1]);
    const error = new Error('it is a view');
    collection.refusePlants('collection', error);
    expect(await waiting.result).to.deep.equal({ sent: false, error });
    expect(await Promise.race([underWay.result, later()])).to.equal('later');
    underWay.abort();
    await underWay.result;
  });

  it('read marks with majority read concern, for ids of any numeric type', async () => {
    const id = Long.fromString('9007199254740993');
    reply = async () => ({ cursor: { firstBatch: [{ _id: id, mark: undefined }] } });
    const marks = await collection.committedMarks([1n, 2n], TIME_LIMIT);
    expect([...marks]).to.deep.equal([[9007199254740993n, undefined]]);
    expect(commands).to.deep.equal([
      {
        ...{ find: 'plants', filter: { _id: { $in: [1n, 2n] } } },
        projection: { _id: { $toLong: '$_id' }, mark: 1 },
        ...{ batchSize: 2, singleBatch: true, readConcern: { level: 'majority' } },
      },
    ]);
    expect(options[0]).to.deep.include({ promoteLongs: false, readPreference: 'primary' });
  });

  it('read no marks while plants are refused', async () => {
    const error = new Error('it is a view');
    collection.refusePlants('collection', error);
    await rejects(collection.committedMarks([1n], TIME_LIMIT), error);
    expect(commands).to.deep.equal([]);
  });

  it('check that plants can be read and inserted, and write nothing', async () => {
    reply = async (command) => ('find' in command ? { cursor: { firstBatch: [] } } : PRIVILEGES);
    await collection.check(TIME_LIMIT);
    expect(commands).to.have.length(2);
    expect(commands[0]).to.include({ find: 'plants', batchSize: 1 });
    expect(commands[1]).to.deep.equal({ connectionStatus: 1, showPrivileges: true });
  });

  it('report that the permission to insert is missing', async () => {
    const status = { authInfo: { ...PRIVILEGES.authInfo, authenticatedUserPrivileges: [] } };
    reply = async (command) => ('find' in command ? { cursor: { firstBatch: [] } } : status);
    await rejects(collection.check(TIME_LIMIT), new ServerReplyError(13, 'Unauthorized'));
    expect(denials).to.equal(0);
  });

  it('succeed on a server that does not report privileges', async () => {
    reply = async (command) => {
      if ('find' in command) return { cursor: { firstBatch: [] } };
      throw new MongoServerError({ message: 'what?', code: 59, ok: 0 });
    };
    await collection.check(TIME_LIMIT);
    await collection.logIn(TIME_LIMIT);
    expect(await collection.isLoggedIn(TIME_LIMIT)).to.equal(true);
  });

  it('fail when the connection is lost', async () => {
    reply = () => Promise.reject(new Error('connection lost'));
    await rejects(collection.logIn(TIME_LIMIT), /connection lost/);
    await rejects(collection.isLoggedIn(TIME_LIMIT), /connection lost/);
  });

  for (const [status, isLoggedIn] of [
    [PRIVILEGES, true],
    [{ authInfo: { authenticatedUsers: [] } }, false],
    [{ authInfo: {} }, true],
  ] as const) {
    it(`report a connection as ${isLoggedIn ? '' : 'not '}logged in: ${JSON.stringify(status)}`, async () => {
      reply = async () => status;
      expect(await collection.isLoggedIn(TIME_LIMIT)).to.equal(isLoggedIn);
    });
  }

  it('report missing permissions, without the text of the server', async () => {
    reply = () => Promise.reject(unauthorized);
    const result = await insert().result;
    expect(result).to.deep.equal({ sent: false, error: new ServerReplyError(13) });
    expect(denials).to.equal(1);
    reply = () => Promise.reject(new Error('connection lost'));
    await insert().result;
    expect(denials).to.equal(1);
  });

  it('close the last used connection: they abort a ping after it was sent', async () => {
    reply = never;
    let isClosed = false;
    const before = client.listenerCount('commandStarted');
    const closing = collection.closeConnection().then(() => {
      isClosed = true;
    });
    expect(commands).to.deep.equal([{ ping: 1, comment: 'plant-store closes this connection' }]);
    sent({ ping: 1, comment: 'of another' });
    await later();
    expect(isClosed).to.equal(false);
    sent(commands[0]);
    await closing;
    expect(client.listenerCount('commandStarted')).to.equal(before);
  });
});
