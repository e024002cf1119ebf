import { rejects } from 'node:assert/strict';
import { NoResponseError, Warnings } from '@plant-store/plant-repository-group-commit';
import { sharedReplicaSet } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { type Db, type Document, Long, MongoClient, type RunCommandOptions } from 'mongodb';
import { CollectionCheck } from '../src/collection-check.js';
import { VALIDATION } from '../src/validation.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { DATABASE, freshCollection } from './support/open-store.js';
import { StoreEvents } from './support/store-events.js';

describeOnMongod('the collection', () => {
  let client: MongoClient;
  let db: Db;
  let collection: string;
  let events: StoreEvents;
  let run: () => Promise<void>;

  beforeEach(async () => {
    events = new StoreEvents();
    client = new MongoClient((await sharedReplicaSet()).uri, { monitorCommands: true });
    db = client.db(DATABASE);
    collection = freshCollection();
    run = checkOn(db);
  });

  afterEach(() => client.close());

  const connect = async () => void (await client.connect());

  /** Returns how to run one check, more than once. */
  function checkOn(database: Db, createCollection = true): () => Promise<void> {
    const warnings = new Warnings(events.observer);
    const check = new CollectionCheck(
      { db: database, connect },
      { collection, createCollection },
      warnings,
    );
    return () => check.run(new AbortController().signal);
  }

  async function validator(): Promise<Document> {
    const [found] = await db.listCollections({ name: collection }, { nameOnly: false }).toArray();
    return (found as Document).options.validator;
  }

  it('is created with a validator, even after a drop, and checked with the write concern of inserts', async () => {
    const concerns: Record<string, unknown[]> = { create: [], update: [] };
    client.on('commandStarted', ({ commandName, command }) => {
      concerns[commandName]?.push(command.writeConcern);
    });
    await run();
    expect(await validator()).to.deep.equal(VALIDATION.validator);
    await db.dropCollection(collection);
    await run();
    expect(await validator()).to.deep.equal(VALIDATION.validator);
    await run();
    expect(concerns.create).to.deep.equal([{ w: 'majority' }, { w: 'majority' }]);
    // What inserts wait for, whatever the cluster has by default.
    expect(concerns.update).to.deep.equal(Array(3).fill({ w: 'majority', j: true }));
    const other = db.collection(collection).insertOne({ name: 'not by this service' });
    await rejects(other, { code: 121 });
    expect(events.all).to.deep.equal([]);
  });

  /** A check, before one of whose commands something happens. */
  function checkWith(
    name: 'create' | 'update' | 'connectionStatus',
    before: () => Promise<Document | undefined>,
  ) {
    const command = async (sent: Document, options: RunCommandOptions) =>
      (name in sent ? await before() : undefined) ?? db.command(sent, options);
    return checkOn(Object.assign(Object.create(db), { command }))();
  }

  it('may be created by another instance at the same time', async () => {
    await checkWith('create', () =>
      db.command({ create: collection, ...VALIDATION }).then(() => undefined),
    );
    expect(events.all).to.deep.equal([]);
  });

  it('cannot be created if the name of another database differs only in case', async () => {
    await run();
    const checkIn = (name: string) => checkOn(client.db(name), false)();
    await rejects(checkIn(DATABASE.toUpperCase()), {
      finding: 'unusable',
      message: `a database exists whose name differs only in case: ${DATABASE}`,
    });
    await checkIn('another');
  });

  for (const [kind, options] of Object.entries({
    view: { viewOn: 'others', pipeline: [] },
    'capped collection': { capped: true, size: 4096 },
  })) {
    it(`cannot be used while it is a ${kind}`, async () => {
      await db.createCollection(collection, options);
      const message = `the collection is not an ordinary one: ${kind}`;
      await rejects(run(), { finding: 'unusable', message });
      await db.dropCollection(collection);
      await run();
    });
  }

  it('is reported as slow when the server responds to reads but not to writes', async () => {
    const silent = checkWith('update', () => Promise.reject(new NoResponseError()));
    await rejects(silent, { name: 'MongoStoreError', finding: 'slow' });
  });

  it('is reported as not writable when a router returns the error of a shard', async () => {
    const writeErrors = [{ index: 0, code: 133, errmsg: 'no primary' }];
    await rejects(
      checkWith('update', async () => ({ ok: 1, writeErrors })),
      { code: 133 },
    );
  });

  const schema = VALIDATION.validator.$jsonSchema;
  const { properties } = schema;
  const { tag, ...withoutTag } = properties;
  const height = { bsonType: 'int' };
  const withProperties = (properties: object, additionalProperties = true) => ({
    $jsonSchema: { ...schema, properties, ...(!additionalProperties && { additionalProperties }) },
  });
  const others: readonly [what: string, validator: Document, isOwn: boolean][] = [
    ['without an optional field', withProperties(withoutTag), true],
    ['with an additional field', withProperties({ ...properties, height }), true],
    ['with another type', withProperties({ ...withoutTag, tag: { bsonType: 'int' } }), false],
    ['without the type of a field', withProperties({ tag }), false],
    ['of another program', { name: { $exists: true } }, false],
  ];
  for (const [what, other, isOwn] of others) {
    it(`keeps a validator ${what}, ${isOwn ? 'without a' : 'with one'} warning`, async () => {
      await db.createCollection(collection, { validator: other });
      await run();
      await run();
      const command = JSON.stringify({ collMod: collection, ...VALIDATION });
      expect(events.of('store warning').map((it) => it.command)).to.deep.equal(
        isOwn ? [] : [`db.getSiblingDB('${DATABASE}').runCommand(${command})`],
      );
      expect(await validator()).to.deep.equal(other);
    });
  }

  const _id = { bsonType: 'objectId' };
  const withMark = { $jsonSchema: { ...schema, required: ['_id', 'name', 'mark'] } };
  const refusing: readonly [what: string, validator: Document, reason: string][] = [
    ['demands another field', withMark, 'it demands the field mark, which no plant has'],
    ['demands a field of one', { 'mark.at': { $exists: true } }, 'it demands the field mark.at'],
    ['permits no field _id', withProperties({ name: {} }, false), 'it does not permit the _id'],
    ['demands ids of another type', withProperties({ ...properties, _id }), 'the _id of a plant'],
  ];
  for (const [what, validator, reason] of refusing) {
    it(`is unusable if its validator ${what}, with the command that replaces it`, async () => {
      await db.createCollection(collection, { validator });
      const insert = db.collection(collection).insertOne({ _id: Long.ONE, name: 'a' } as Document);
      await rejects(insert, { code: 121 });
      await rejects(run(), (error: Error) => error.message.includes(reason));
      const [warning] = events.of('store warning');
      const correction = /runCommand\((.*)\)$/.exec(warning?.command ?? '')?.[1] ?? '';
      await db.command(JSON.parse(correction));
      await run();
    });
  }

  const harmless: readonly [what: string, options: Document][] = [
    ['only warns', { validator: withMark, validationAction: 'warn' }],
    ['is turned off', { validator: withMark, validationLevel: 'off' }],
    [
      'permits every number as an id',
      { validator: withProperties({ _id: { bsonType: ['number', 'string'] } }) },
    ],
    ['demands a tag', { validator: { tag: { $exists: true } } }],
    [
      'permits only fields with such names',
      {
        validator: { $jsonSchema: { additionalProperties: false, patternProperties: { '.': {} } } },
      },
    ],
  ];
  for (const [what, options] of harmless) {
    it(`can be used if its validator ${what}`, async () => {
      await db.createCollection(collection, options);
      await run();
      await db.collection(collection).insertOne({ _id: Long.ONE, name: 'a', tag: 'b' } as Document);
    });
  }

  it('causes a warning each time an insert has recreated it', async () => {
    for (const _id of [1, 2]) {
      await run();
      await db.dropCollection(collection);
      await db.collection<{ _id: number }>(collection).insertOne({ _id });
      for (let time = 0; time < 2; time += 1) await run();
      expect(events.of('store warning')).to.have.length(_id);
      expect(await db.collection(collection).find().toArray()).to.deep.equal([{ _id }]);
      await db.command({ collMod: collection, ...VALIDATION });
    }
  });

  const on = (resource: object, action: string) => ({
    authInfo: {
      authenticatedUsers: [{ user: 'plant-store', db: 'admin' }],
      authenticatedUserPrivileges: [
        { resource, actions: [action] },
        { resource: { db: DATABASE, collection }, actions: ['find', 'update'] },
      ],
    },
  });
  it('is checked with a read that waits for a majority if the user may not update it', async () => {
    const { authInfo } = on({ db: DATABASE, collection }, 'insert');
    authInfo.authenticatedUserPrivileges[1]?.actions.pop();
    const levels: unknown[] = [];
    client.on('commandStarted', ({ command }) => levels.push(command.readConcern?.level));
    await checkWith('connectionStatus', async () => ({ authInfo }));
    expect(levels).to.include('linearizable');
  });

  const permissions: readonly [string, () => Document, isEnough: boolean][] = [
    ['insert into the collection', () => on({ db: DATABASE, collection }, 'insert'), true],
    ['insert everywhere', () => on({ db: '', collection: '' }, 'insert'), true],
    ['do anything with anything', () => on({ anyResource: true }, 'anyAction'), true],
    ['only read', () => on({ db: DATABASE, collection }, 'find'), false],
    ['insert into another database', () => on({ db: 'park', collection }, 'insert'), false],
    ['have permissions that the server does not report', () => ({}), true],
  ];
  for (const [what, status, isEnough] of permissions) {
    it(`${isEnough ? 'accepts' : 'refuses'} a user who may ${what}`, async () => {
      const checking = checkWith('connectionStatus', async () => status());
      if (isEnough) await checking;
      else await rejects(checking, { finding: 'unusable', message: /may read and insert/ });
    });
  }
});
