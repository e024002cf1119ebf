import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import { sharedReplicaSet } from '@plant-store/mongod';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  DATABASE,
  databaseAt,
  freshCollection,
  repositories,
  untilNotReady,
  untilReady,
} from './support/open-store.js';
import { plant } from './support/plant.js';

// Longer than a test may take, so that a create that waits for its deadline fails the test.
const LONG_LIMIT_MS = 300_000;

const REFUSED = 'plants are refused: ';

describeOnMongod('A collection that cannot store plants', () => {
  const open = repositories();

  for (const [kind, options] of Object.entries({
    view: { viewOn: 'others', pipeline: [] },
    'capped collection': { capped: true, size: 4096 },
  })) {
    it(`refuses plants at once because it is a ${kind}, and says so once, until it is replaced`, async () => {
      const { uri } = await sharedReplicaSet();
      const db = databaseAt(uri);
      const collection = freshCollection();
      await db.createCollection(collection, options);
      const { repository, events } = open(uri, collection);
      const reason = `${REFUSED}"${collection}" is a ${kind}, not a collection`;
      await untilNotReady(repository, reason);
      await rejects(repository.add(plant(1n), LONG_LIMIT_MS), StorageUnavailableError);
      const reported = events.of('storage unreachable').map(({ error }) => error.message);
      expect(reported.filter((message) => message === reason)).to.have.length(1);
      await db.dropCollection(collection);
      await untilReady(repository);
      await repository.add(plant(1n), LONG_LIMIT_MS);
    });
  }

  for (const [database, collection] of [
    [DATABASE, ''],
    [DATABASE, 'a$b'],
    [DATABASE, 'p'.repeat(250)],
    // MongoDB refuses a name that differs from that of a database only in case.
    [DATABASE.toUpperCase(), freshCollection()],
  ] as const) {
    it(`refuses plants at once because MongoDB refuses its name: "${database}.${collection}"`, async () => {
      const uri = new URL((await sharedReplicaSet()).uri);
      await databaseAt(uri.href).createCollection(freshCollection());
      uri.pathname = database;
      const { repository } = open(uri.href, collection);
      await untilNotReady(repository, REFUSED);
      await rejects(repository.add(plant(1n), LONG_LIMIT_MS), StorageUnavailableError);
    });
  }

  it('refuses plants at once when a view replaces it', async () => {
    const { uri } = await sharedReplicaSet();
    const db = databaseAt(uri);
    const { repository, collection } = open(uri);
    await repository.add(plant(1n), LONG_LIMIT_MS);
    await db.dropCollection(collection);
    await db.createCollection(collection, { viewOn: 'others', pipeline: [] });
    await rejects(repository.add(plant(2n), LONG_LIMIT_MS), StorageUnavailableError);
  });
});
