import { rejects } from 'node:assert/strict';
import { newPlant, StorageUnavailableError, UnreadablePlantError } from '@plant-store/domain';
import { type MongodServer, ReplicaSet } from '@plant-store/mongod';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { Long, MongoClient } from 'mongodb';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { DATABASE, freshCollection } from './support/open-store.js';

const LIMIT_MS = 15_000;
/** When the primary freezes, MongoDB 4.4 has no majority for 36 s: the other member still replicates from it. */
const FROZEN_LIMIT_MS = 60_000;

describeOnMongod('Plants that are read from three nodes', function () {
  this.timeout(90_000);
  let set: ReplicaSet;
  let collection: string;
  let closing: (() => Promise<unknown>)[];

  before(async () => {
    set = await ReplicaSet.start({ members: 3, electionTimeoutMs: 2_000 });
  });

  after(() => set.stop());

  beforeEach(async () => {
    await set.settled();
    collection = freshCollection();
    closing = [];
  });

  afterEach(() => Promise.all(closing.map((close) => close())));

  function open(uri = set.uri): MongoPlantRepository {
    const repository = new MongoPlantRepository({ uri, collection });
    closing.push(() => repository.close());
    return repository;
  }

  function direct({ host }: MongodServer) {
    const client = new MongoClient(`mongodb://${host}/?directConnection=true`);
    closing.push(() => client.close());
    return client.db(DATABASE).collection<{ _id: Long | number; name?: string }>(collection);
  }

  const readAll = (repository: MongoPlantRepository, timeLimit = LIMIT_MS) =>
    repository.read({ limit: 10 }, timeLimit);

  it('do not include one that only the primary has', async () => {
    const repository = open();
    const kept = newPlant({ id: 1n, name: 'kept' });
    await repository.add(kept, LIMIT_MS);
    const primary = await set.primary();
    const others = set.members.filter((member) => member !== primary);
    for (const member of others) member.freeze();
    try {
      const lost = { _id: Long.fromNumber(2), name: 'only here', mark: new Uint8Array(12) };
      const options = { writeConcern: { w: 1 }, bypassDocumentValidation: true } as const;
      await direct(primary).insertOne(lost, options);
      const found = await readAll(repository, 1_000).catch((error: unknown) => error);
      expect(found).to.be.instanceOf(StorageUnavailableError);
    } finally {
      for (const member of others) member.thaw();
    }
    await set.settled();
    expect(await readAll(repository)).to.deep.include(kept);
  });

  it('include every acknowledged one, also when a replaced primary is read that has not noticed it', async () => {
    const old = await set.primary();
    const stale = open(`mongodb://${old.host}/?directConnection=true`);
    expect(await readAll(stale)).to.deep.equal([]);
    old.freeze();
    const plant = newPlant({ id: 1n, name: 'of the new primary' });
    const adding = open().add(plant, FROZEN_LIMIT_MS);
    await adding.finally(() => old.thaw());
    const found = await readAll(stale, 3_000).catch((error: unknown) => error);
    if (!(found instanceof StorageUnavailableError)) expect(found).to.deep.equal([plant]);
  });

  it('end with an error at a document that is not a plant', async () => {
    const options = { bypassDocumentValidation: true } as const;
    await direct(await set.primary()).insertOne({ _id: 1.5, name: 'half' }, options);
    await rejects(readAll(open()), UnreadablePlantError);
  });
});
