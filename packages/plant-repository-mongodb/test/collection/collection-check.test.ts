import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import { MongodServer, sharedReplicaSet } from '@plant-store/mongod';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { type Db, type Document, MongoClient } from 'mongodb';
import { CollectionCheck } from '../../src/collection/collection-check.js';
import { describeOnMongod } from '../support/describe-on-mongod.js';
import { closeClient, DATABASE, freshCollection } from '../support/open-store.js';
import { plant } from '../support/plant.js';
import { StorageEvents } from '../support/storage-events.js';

// Longer than a test may take, so that a create that waits for its deadline fails the test.
const LONG_LIMIT_MS = 100_000;

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
    await Promise.all(Array.from({ length: 8 }, check));
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

  it('holds no document after a check, which updates none', async () => {
    await db.collection<{ _id: number }>(name).insertOne({ _id: 1 });
    await check();
    expect(await db.collection(name).find().toArray()).to.deep.equal([{ _id: 1 }]);
  });
});

describeOnMongod('A user of the database', () => {
  const USERS = {
    ...{ reader: 'read', writer: 'readWrite', stranger: undefined },
    ...{ inserter: ['insert'], frugal: ['insert', 'find'] },
  };
  let server: MongodServer;
  let events: StorageEvents;
  let repository: MongoPlantRepository;

  before(async () => {
    server = await MongodServer.start({ args: ['--auth'] });
    const root = { createUser: 'root', pwd: 's3cret', roles: ['root'] };
    await server.command(root);
    const resource = { db: DATABASE, collection: 'plants' };
    for (const [user, role] of Object.entries(USERS)) {
      if (Array.isArray(role)) {
        const privileges = [{ resource, actions: role }];
        await server.command({ createRole: user, privileges, roles: [] }, uriFor('root'));
      }
      const own = Array.isArray(role) ? [{ role: user, db: 'admin' }] : [];
      const roles = typeof role === 'string' ? [{ role, db: DATABASE }] : own;
      await server.command({ createUser: user, pwd: 's3cret', roles }, uriFor('root'));
    }
  });

  beforeEach(() => {
    events = new StorageEvents();
  });

  afterEach(() => repository.close());
  after(async () => {
    await closeClient(uriFor('root'));
    await server.stop();
  });

  function uriFor(user: string, password = 's3cret'): string {
    return `mongodb://${user}:${password}@${server.host}/?directConnection=true`;
  }

  function open(uri: string): void {
    repository = new MongoPlantRepository({ uri, observer: events.observer });
  }

  it('without the permission to look the collection up causes a warning with the command to run', async () => {
    open(uriFor('inserter'));
    const warning = await events.first('storage warning', /validator/);
    expect(warning).to.have.property('command', advice({ create: 'plants' }));
  });

  it('that may only read and insert can create plants', async () => {
    open(uriFor('frugal'));
    await repository.ready();
    await repository.add(plant(2n), LONG_LIMIT_MS);
  });

  for (const [user, lacking] of [
    ['reader', 'insert'],
    ['inserter', 'read'],
    ['stranger', 'do anything'],
  ] as const) {
    it(`without the permission to ${lacking} makes the repository not ready`, async () => {
      open(uriFor(user));
      await rejects(repository.ready(), {
        name: 'StorageUnavailableError',
        message: /permissions/,
      });
    });
  }

  it('is ready as soon as the permissions are granted', async () => {
    open(uriFor('stranger'));
    await rejects(repository.ready(), StorageUnavailableError);
    const roles = [{ role: 'readWrite', db: DATABASE }];
    await server.command({ grantRolesToUser: 'stranger', roles }, uriFor('root'));
    await repository.ready();
  });
});
