import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import { sharedReplicaSet } from '@plant-store/mongod';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import type { Db } from 'mongodb';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  clientOf,
  DATABASE,
  freshCollection,
  untilNotReady,
  untilReady,
  untilStored,
} from './support/open-store.js';
import { plant } from './support/plant.js';
import { StorageEvents } from './support/storage-events.js';

// Longer than a test may take, so that a create that waits for its deadline fails the test.
const LONG_LIMIT_MS = 300_000;

describeOnMongod('A collection that cannot store plants', () => {
  let db: Db;
  let collection: string;
  let events: StorageEvents;
  let repository: ReturnType<typeof mongoPlantRepository>;

  beforeEach(async () => {
    const { uri } = await sharedReplicaSet();
    db = clientOf(uri).db(DATABASE);
    collection = freshCollection();
    events = new StorageEvents();
  });

  afterEach(() => repository?.close());

  async function open(): Promise<void> {
    const { uri } = await sharedReplicaSet();
    repository = mongoPlantRepository({ uri, collection, observer: events.observer });
  }

  const kinds = {
    view: { viewOn: 'others', pipeline: [] },
    'capped collection': { capped: true, size: 4096 },
  };
  for (const [kind, options] of Object.entries(kinds)) {
    it(`refuses plants at once because it is a ${kind}, and says so once, until it is replaced`, async () => {
      await db.createCollection(collection, options);
      await open();
      const reason = `plants are refused: "${collection}" is a ${kind}, not a collection`;
      await untilNotReady(repository, reason);
      await rejects(repository.add(plant(1n), LONG_LIMIT_MS), StorageUnavailableError);
      const reported = events.of('storage unreachable').map(({ error }) => error.message);
      expect(reported.filter((message) => message === reason)).to.have.length(1);
      await db.dropCollection(collection);
      await untilStored(() => repository.add(plant(1n), LONG_LIMIT_MS));
      await untilReady(repository);
    });
  }

  for (const name of ['', 'a$b', 'p'.repeat(250)]) {
    it(`refuses plants at once because MongoDB refuses its name: "${name}"`, async () => {
      collection = name;
      await open();
      await untilNotReady(repository, 'plants are refused: ');
      await rejects(repository.add(plant(1n), LONG_LIMIT_MS), StorageUnavailableError);
    });
  }

  it('refuses plants at once when the name of another database differs only in case', async () => {
    await db.createCollection(collection);
    const other = new URL((await sharedReplicaSet()).uri);
    other.pathname = DATABASE.toUpperCase();
    repository = mongoPlantRepository({ uri: other.href, collection, observer: events.observer });
    const reason = `plants are refused: the database "${DATABASE}" exists, and MongoDB refuses a name that differs only in case`;
    await untilNotReady(repository, reason);
    await rejects(repository.add(plant(1n), LONG_LIMIT_MS), StorageUnavailableError);
  });

  it('refuses plants at once when a view replaces it', async () => {
    await open();
    await repository.add(plant(1n), LONG_LIMIT_MS);
    await db.dropCollection(collection);
    await db.createCollection(collection, kinds.view);
    await rejects(repository.add(plant(2n), LONG_LIMIT_MS), StorageUnavailableError);
  });
});
