import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageUnavailableError } from '@plant-store/domain';
import { sharedReplicaSet } from '@plant-store/mongod';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { type Db, MongoServerError } from 'mongodb';
import { retrySetUp } from '../src/collection/collection-setup.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { clientOf, DATABASE, freshCollection, untilStored } from './support/open-store.js';
import { plant } from './support/plant.js';
import { StorageEvents } from './support/storage-events.js';

// Longer than a test may take, so that a create that waits for its deadline fails the test.
const LONG_LIMIT_MS = 100_000;

describeOnMongod('A collection that cannot store plants', function () {
  this.timeout(20_000);
  let db: Db;
  let collection: string;
  let events: StorageEvents;
  let repository: MongoPlantRepository;

  beforeEach(async () => {
    const { uri } = await sharedReplicaSet();
    db = clientOf(uri).db(DATABASE);
    collection = freshCollection();
    events = new StorageEvents();
  });

  afterEach(() => repository.close());

  async function open(): Promise<void> {
    const { uri } = await sharedReplicaSet();
    repository = new MongoPlantRepository({ uri, collection, observer: events.observer });
  }

  /** Resolves when the collection has its validator: until then, the repository creates a dropped collection again. */
  async function untilSetUp(): Promise<void> {
    for (;;) {
      const { cursor } = await db.command({ listCollections: 1, filter: { name: collection } });
      if (cursor.firstBatch[0]?.options?.validator !== undefined) return;
    }
  }

  const kinds = {
    view: { viewOn: 'others', pipeline: [] },
    timeseries: { timeseries: { timeField: 'at' } },
  };
  for (const [kind, options] of Object.entries(kinds)) {
    it(`refuses plants at once because it is a ${kind}, with a warning, until it is replaced`, async () => {
      await db.createCollection(collection, options);
      await open();
      const warning = await events.first('storage warning', new RegExp(`is a ${kind}`));
      expect(warning).to.have.property('message').that.includes(collection);
      await rejects(repository.add(plant(1n), LONG_LIMIT_MS), StorageUnavailableError);
      await rejects(repository.ready(), StorageUnavailableError);
      await db.dropCollection(collection);
      await untilStored(() => repository.add(plant(1n), LONG_LIMIT_MS));
      await repository.ready();
    });
  }

  it('refuses plants at once when a view replaces it', async () => {
    await open();
    await repository.add(plant(1n), LONG_LIMIT_MS);
    await untilSetUp();
    await db.dropCollection(collection);
    await db.createCollection(collection, kinds.view);
    await rejects(repository.add(plant(2n), LONG_LIMIT_MS), StorageUnavailableError);
  });
});

describe('A collection that exists but is not listed', () => {
  it('is looked up a second time at once, and then after a pause', async () => {
    const closing = new AbortController();
    const commands: string[] = [];
    const db = {
      databaseName: 'garden',
      async command(command: object) {
        commands.push(...Object.keys(command).slice(0, 1));
        await nextTurn();
        if ('listCollections' in command) return { cursor: { firstBatch: [] } };
        throw new MongoServerError({ message: 'it exists', code: 48 });
      },
    };
    const none = () => undefined;
    await new Promise<void>((resolve) => {
      const listener = { warn: none, usable: none, unusable: none, failed: () => resolve() };
      void retrySetUp(db, 'plants', listener, closing.signal);
    });
    for (let turns = 0; turns < 20; turns += 1) await nextTurn();
    closing.abort();
    expect(commands).to.deep.equal(['listCollections', 'create', 'listCollections', 'create']);
  });
});
