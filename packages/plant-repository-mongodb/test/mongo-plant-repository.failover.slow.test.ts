import { newPlant, StorageUnavailableError } from '@plant-store/domain';
import { type MongodServer, ReplicaSet } from '@plant-store/mongod';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { Long, MongoClient } from 'mongodb';
import { ConcurrentCreates } from './support/concurrent-creates.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { closeClient, DATABASE, freshCollection } from './support/open-store.js';

const CALLERS = 30;
/** Longer than the driver waits for a primary, so that a store must try again. */
const ELECTION_MS = 3_000;
/** MongoDB's default. */
const DEFAULT_ELECTION_MS = 10_000;
/** The default of `REQUEST_DEADLINE_MS`. */
const LIMIT_MS = 15_000;
/** When the primary freezes, MongoDB 4.4 has no majority for 36 s: the other member still replicates from it. */
const FROZEN_LIMIT_MS = 60_000;
/** How many plants are stored before the disruption. */
const MIN_STORED = 150;

describeOnMongod('Three nodes', function () {
  this.timeout(90_000);
  let set: ReplicaSet;
  let collection: string;
  let closing: (() => Promise<unknown>)[];

  before(async () => {
    set = await ReplicaSet.start({ members: 3, electionTimeoutMs: ELECTION_MS });
  });

  after(async () => {
    await closeClient(set.uri);
    await set.stop();
  });

  beforeEach(async () => {
    await set.settled();
    collection = freshCollection();
    closing = [];
  });

  afterEach(() => Promise.all(closing.map((close) => close())));

  function open(uri = set.uri): ReturnType<typeof mongoPlantRepository> {
    const repository = mongoPlantRepository({ uri, collection });
    closing.push(() => repository.close());
    return repository;
  }

  async function createDuring(
    timeLimitMs: number,
    disruption: (creates: ConcurrentCreates) => Promise<void>,
  ): Promise<ConcurrentCreates> {
    const creates = new ConcurrentCreates([open(), open()], timeLimitMs);
    await creates.during(CALLERS, async () => {
      await creates.reported(MIN_STORED, 'stored');
      await disruption(creates);
    });
    await creates.verify(set.uri, collection);
    return creates;
  }

  it('store every plant when the primary is killed, at the default election timeout, and report true outcomes when all are', async () => {
    await set.electWithin(DEFAULT_ELECTION_MS);
    const primary = await set.primary();
    const creates = await createDuring(LIMIT_MS, () => primary.kill());
    expect([creates.count('unavailable'), creates.count('unknown')]).to.deep.equal([0, 0]);
    await set.electWithin(ELECTION_MS);
    collection = freshCollection();
    await createDuring(1_000, async (creates) => {
      await Promise.all(set.members.map((member) => member !== primary && member.kill()));
      await creates.reported(CALLERS, 'unavailable');
      await Promise.all(set.members.map((member) => member.restart()));
    });
  });

  it('store every plant when the primary steps down', async () => {
    const creates = await createDuring(LIMIT_MS, () => set.stepDown());
    expect([creates.count('unavailable'), creates.count('unknown')]).to.deep.equal([0, 0]);
  });

  it('report true outcomes in time when the primary freezes, or cannot reach a majority', async () => {
    for (const isPrimaryFrozen of [true, false]) {
      collection = freshCollection();
      await set.settled();
      const primary = await set.primary();
      const frozen = set.members.filter((member) => (member === primary) === isPrimaryFrozen);
      await createDuring(1_500, async (creates) => {
        for (const member of frozen) member.freeze();
        await creates.reported(1, 'unknown');
        for (const member of frozen) member.thaw();
      });
    }
  });

  function direct({ host }: MongodServer) {
    const client = new MongoClient(`mongodb://${host}/?directConnection=true`);
    closing.push(() => client.close());
    return client.db(DATABASE).collection<{ _id: Long | number; name?: string }>(collection);
  }

  const readAll = (repository: ReturnType<typeof mongoPlantRepository>, timeLimitMs = LIMIT_MS) =>
    repository.read({ limit: 10 }, timeLimitMs);

  it('show no plant that only the primary has', async () => {
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

  it('show every acknowledged plant, also when a replaced primary is read that has not noticed it', async () => {
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
});
