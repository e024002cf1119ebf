import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import type { Db, Document, MongoClient } from 'mongodb';
import { MongoPlantCollection } from '../../src/collection/mongo-plant-collection.js';
import { toDocument } from '../../src/collection/plant-document.js';
import { Disclosure } from '../../src/connection/disclosure.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { plant } from '../support/plant.js';
import { VirtualTime } from '../support/virtual-time.js';

const TIME_LIMIT = 1_000;

describe('The commands of a collection', () => {
  let client: MongoClient;
  let db: Db;
  let collection: MongoPlantCollection;
  let commands: Document[];
  let options: Document[];
  let refusal: Error | undefined;
  let reached: () => Promise<unknown> | undefined;
  let alarms: number;
  /** What the server replies. A command that was not sent ends with its signal. */
  let reply: (command: Document) => Promise<Document>;

  beforeEach(() => {
    client = createMongoClient('mongodb://127.0.0.1:1/');
    db = client.db('garden');
    commands = [];
    options = [];
    refusal = undefined;
    reached = () => undefined;
    alarms = 0;
    reply = async () => ({ n: 1, ok: 1 });
    db.command = (command, given = {}) => {
      commands.push(command);
      options.push(given);
      return Promise.race([reply(command), aborted(given.signal)]);
    };
    collection = new MongoPlantCollection(client, db, 'plants', {
      availability: {
        get refusal() {
          return refusal;
        },
        reached: () => reached()?.then(() => undefined),
      },
      observer: () => {
        alarms += 1;
      },
      disclosure: new Disclosure('mongodb://127.0.0.1:1/', client),
    });
  });

  afterEach(() => client.close());

  function aborted(signal: AbortSignal | undefined): Promise<never> {
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  }

  /** As the driver reports a command that it sends, whose comment an agent has changed. */
  const sent = (command: Document = {}) =>
    Reflect.apply(client.emit, client, [
      'commandStarted',
      { command: { ...command, comment: 'traceparent' } },
    ]);

  const later = () => new Promise((resolve) => setImmediate(resolve, 'later'));

  const insert = () => collection.insert([toDocument(plant(1n))], TIME_LIMIT);
  const never = () => new Promise<never>(() => {});

  it('end an insert at its time limit only when it was sent', async () => {
    const time = new VirtualTime();
    time.install();
    try {
      reply = never;
      const [waiting, underWay] = [insert(), insert()];
      sent(commands[1]);
      sent(commands[1]);
      sent({ documents: [toDocument(plant(1n))] });
      expect([waiting.sent, underWay.sent]).to.deep.equal([false, true]);
      await time.runOut(TIME_LIMIT);
      const error = new Error('the insert timed out');
      expect(await underWay.result).to.deep.equal({ kind: 'failed', error });
      expect(await Promise.race([waiting.result, later()])).to.equal('later');
      underWay.cancel();
      waiting.cancel();
      expect(await waiting.result).to.deep.equal({ kind: 'not sent', error });
      expect(commands.map(({ documents }) => documents.length)).to.deep.equal([0, 1]);
    } finally {
      time.uninstall();
    }
  });

  it('raise an alarm when a reply comes to an insert that was not reported as sent', async () => {
    await insert().result;
    expect(alarms).to.equal(1);
    reply = () => Promise.reject(new Error('connection lost'));
    expect(await insert().result).to.have.property('kind', 'failed');
  });

  it('send nothing while plants are refused, and nothing before the database was reached', async () => {
    refusal = new Error('it is a view');
    expect(await insert().result).to.deep.equal({ kind: 'refused', error: refusal });
    await rejects(collection.committedMarks([1n], TIME_LIMIT), refusal);
    refusal = undefined;
    reached = () => Promise.reject(new Error('not yet'));
    expect(await insert().result).to.deep.equal({ kind: 'not sent', error: new Error('not yet') });
    reached = later;
    const cancelled = insert();
    cancelled.cancel();
    await later();
    await later();
    expect(commands).to.deep.equal([]);
  });
});
