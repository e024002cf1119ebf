import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import { MongodServer, sharedReplicaSet } from '@plant-store/mongod';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import type { Db, Document, MongoClient } from 'mongodb';
import { setUpCollection } from '../../src/collection/collection-setup.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { describeOnMongod } from '../support/describe-on-mongod.js';
import { clientOf, closeClient, DATABASE, freshCollection } from '../support/open-store.js';
import { plant } from '../support/plant.js';
import { StorageEvents } from '../support/storage-events.js';

const { signal } = new AbortController();

const VALIDATION = {
  validator: {
    $jsonSchema: {
      description: 'plant-store schema 1',
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

describeOnMongod('The collection', () => {
  let client: MongoClient;
  let db: Db;
  let name: string;

  beforeEach(async () => {
    client = createMongoClient((await sharedReplicaSet()).uri);
    db = client.db(DATABASE);
    name = freshCollection();
  });

  afterEach(() => client.close());

  async function validator(): Promise<Document> {
    const [collection] = await db.listCollections({ name }, { nameOnly: false }).toArray();
    return (collection as Document).options.validator;
  }

  function withVersion(version: number): Document {
    return { $jsonSchema: { description: `plant-store schema ${version}` } };
  }

  it('is created with its validator', async () => {
    expect(await setUpCollection(db, name, signal)).to.equal(undefined);
    expect((await validator()).$jsonSchema.properties._id).to.deep.equal({ bsonType: 'long' });
    await rejects(db.collection(name).insertOne({ name: 'not by this service' }), { code: 121 });
  });

  it('is created, and gets its validator, with write concern majority', async () => {
    const writeConcerns: Record<string, unknown> = {};
    client.on('commandStarted', ({ commandName, command }) => {
      writeConcerns[commandName] = command.writeConcern;
    });
    await setUpCollection(db, name, signal);
    await db.command({ collMod: name, validator: withVersion(0) });
    await setUpCollection(db, name, signal);
    const majority = { w: 'majority' };
    expect(writeConcerns).to.deep.include({ create: majority, collMod: majority });
  });

  it('is created once by several instances that start at the same time', async () => {
    await Promise.all(Array.from({ length: 8 }, () => setUpCollection(db, name, signal)));
    expect((await validator()).$jsonSchema.description).to.equal('plant-store schema 1');
  });

  it('gets a validator when it has none', async () => {
    await db.createCollection(name);
    await setUpCollection(db, name, signal);
    expect((await validator()).$jsonSchema.description).to.equal('plant-store schema 1');
  });

  it('gets the validator of this version instead of an older one', async () => {
    await db.createCollection(name, { validator: withVersion(0) });
    await setUpCollection(db, name, signal);
    expect((await validator()).$jsonSchema.description).to.equal('plant-store schema 1');
  });

  it('keeps the validator of a newer version', async () => {
    await db.createCollection(name, { validator: withVersion(2) });
    expect(await setUpCollection(db, name, signal)).to.equal(undefined);
    expect(await validator()).to.deep.equal(withVersion(2));
  });

  it('keeps the validator of another program, with a warning and the command to change it', async () => {
    const foreign = { name: { $exists: true } };
    await db.createCollection(name, { validator: foreign });
    const warning = await setUpCollection(db, name, signal);
    expect(warning?.command).to.equal(advice({ collMod: name }));
    expect(await validator()).to.deep.equal(foreign);
  });
});

describeOnMongod('A user of the database', () => {
  const USERS = { reader: 'read', writer: 'readWrite', inserter: 'inserter', stranger: undefined };
  let server: MongodServer;
  let events: StorageEvents;
  let repository: MongoPlantRepository;

  before(async () => {
    server = await MongodServer.start({ args: ['--auth'] });
    const root = { createUser: 'root', pwd: 's3cret', roles: ['root'] };
    await server.command(root);
    const resource = { db: DATABASE, collection: 'plants' };
    const privileges = [{ resource, actions: ['insert'] }];
    const inserter = { createRole: 'inserter', privileges, roles: [] };
    await server.command(inserter, uriFor('root'));
    for (const [user, role] of Object.entries(USERS)) {
      const roles =
        role === undefined ? [] : [{ role, db: role === 'inserter' ? 'admin' : DATABASE }];
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

  it('without the permission to create the collection causes a warning with the command to run', async () => {
    open(uriFor('reader'));
    const warning = await events.first('storage warning', /validator/);
    expect(warning).to.have.property('command', advice({ create: 'plants' }));
  });

  it('without the permission to update the validator causes a warning with the command to run', async () => {
    await clientOf(uriFor('root')).db(DATABASE).createCollection('plants');
    open(uriFor('reader'));
    const warning = await events.first('storage warning', /validator/);
    expect(warning).to.have.property('command', advice({ collMod: 'plants' }));
  });

  it('without the permission to insert makes plants unavailable, with a warning about what to grant', async () => {
    open(uriFor('reader'));
    await rejects(repository.add(plant(1n), 5_000), StorageUnavailableError);
    const warning = await events.first('storage warning', /plants are refused/);
    const role = `[{"role":"readWrite","db":"${DATABASE}"}]`;
    const command = `db.grantRolesToUser('<the user of the service>', ${role})`;
    expect(warning).to.have.property('command', command);
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

  it('with a wrong password makes plants unavailable at once, and nothing reveals the password', async () => {
    open(uriFor('writer', 'wr0ng'));
    const error = await repository.add(plant(1n), 5_000).catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(`${error} ${(error as Error).cause}`).to.include('the password is wrong');
    const said = [error, (error as Error).cause, ...events.all].map((it) =>
      JSON.stringify(it, bigints),
    );
    expect(said.join()).to.not.match(/wr0ng|s3cret/);
  });

  it('with the role readWrite can create plants', async () => {
    open(uriFor('writer'));
    await repository.ready();
    await repository.add(plant(1n), 5_000);
    const plants = clientOf(uriFor('root')).db(DATABASE).collection('plants');
    expect(await plants.countDocuments()).to.equal(1);
  });

  const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
});
