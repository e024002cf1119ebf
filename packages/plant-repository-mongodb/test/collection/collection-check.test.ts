import { rejects } from 'node:assert/strict';
import { until } from '@plant-store/contract-suite';
import { sharedReplicaSet } from '@plant-store/mongod';
import { expect } from 'chai';
import { type Db, type Document, MongoClient } from 'mongodb';
import { CollectionCheck } from '../../src/collection/collection-check.js';
import { describeOnMongod } from '../support/describe-on-mongod.js';
import { DATABASE, freshCollection, succeeds } from '../support/open-store.js';
import { StorageEvents } from '../support/storage-events.js';

const VALIDATION = {
  validator: {
    $jsonSchema: {
      bsonType: 'object',
      required: ['_id', 'name', 'mark'],
      properties: {
        _id: { bsonType: 'long' },
        name: { bsonType: 'string' },
        tag: { bsonType: 'string' },
        mark: { bsonType: 'objectId' },
      },
    },
  },
  validationLevel: 'strict',
  validationAction: 'error',
};

/** The command that an administrator is advised to run. */
function advice(step: object): string {
  const command = JSON.stringify({ ...step, ...VALIDATION });
  return `db.getSiblingDB('${DATABASE}').runCommand(${command})`;
}

/** A signal that never aborts. */
const never = () => new AbortController().signal;

describeOnMongod('The collection', () => {
  let client: MongoClient;
  let db: Db;
  let name: string;
  let events: StorageEvents;

  beforeEach(async () => {
    events = new StorageEvents();
    client = new MongoClient((await sharedReplicaSet()).uri, { monitorCommands: true });
    db = client.db(DATABASE);
    name = freshCollection();
  });

  afterEach(() => client.close());

  async function validator(): Promise<Document> {
    const [collection] = await db.listCollections({ name }, { nameOnly: false }).toArray();
    return (collection as Document).options.validator;
  }

  const check = (creates = true) =>
    new CollectionCheck(client, db, { name, creates }, events.observer).run(never());

  it('is created with its validator, and write concern majority', async () => {
    let writeConcern: unknown;
    client.on('commandStarted', ({ commandName, command }) => {
      if (commandName === 'create') writeConcern = command.writeConcern;
    });
    await check();
    expect(await validator()).to.deep.equal(VALIDATION.validator);
    expect(writeConcern).to.deep.equal({ w: 'majority' });
    await rejects(db.collection(name).insertOne({ name: 'not by this service' }), { code: 121 });
    await check();
    expect(events.all).to.deep.equal([]);
  });

  it('is created once by several instances that start at the same time', async () => {
    // On a busy machine, the server may take longer than a check waits.
    const checked = () =>
      until(
        () => succeeds(check()),
        () => 'the collection was not checked',
      );
    await Promise.all(Array.from({ length: 8 }, checked));
    expect(await validator()).to.deep.equal(VALIDATION.validator);
  });

  it('keeps another validator, with one warning and the command to change it', async () => {
    const foreign = { name: { $exists: true } };
    await db.createCollection(name, { validator: foreign });
    const checked = new CollectionCheck(client, db, { name, creates: true }, events.observer);
    await checked.run(never());
    await checked.run(never());
    const commands = events.of('storage warning').map(({ command }) => command);
    expect(commands).to.deep.equal([advice({ collMod: name })]);
    expect(await validator()).to.deep.equal(foreign);
  });

  it('is created again with its validator when it was dropped', async () => {
    const checks = new CollectionCheck(client, db, { name, creates: true }, events.observer);
    await checks.run(never());
    await db.dropCollection(name);
    await checks.run(never());
    expect(await validator()).to.deep.equal(VALIDATION.validator);
  });

  it('causes a warning each time when an insert has created it anew', async () => {
    const checks = new CollectionCheck(client, db, { name, creates: true }, events.observer);
    for (const id of [1, 2]) {
      await checks.run(never());
      await db.dropCollection(name);
      await db.collection<{ _id: number }>(name).insertOne({ _id: id });
      for (let check = 0; check < 2; check += 1) await checks.run(never());
      expect(events.of('storage warning')).to.have.length(id);
      await db.command({ collMod: name, ...VALIDATION });
    }
  });

  it('may have the validator of an earlier version, which had a description', async () => {
    const { $jsonSchema } = VALIDATION.validator;
    const earlier = { $jsonSchema: { description: 'plant-store schema 1', ...$jsonSchema } };
    await db.createCollection(name, { validator: earlier });
    await check();
    expect(events.all).to.deep.equal([]);
  });

  it('holds no document after a check, which updates none', async () => {
    await db.collection<{ _id: number }>(name).insertOne({ _id: 1 });
    await check();
    expect(await db.collection(name).find().toArray()).to.deep.equal([{ _id: 1 }]);
  });
});
