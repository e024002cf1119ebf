import { ReplicaSet } from '@plant-store/mongod';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { ConcurrentCreates } from './support/concurrent-creates.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { closeClient, freshCollection } from './support/open-store.js';

const CALLERS = 60;
const DEFAULT_TIME_LIMIT_MS = 15_000;
const DEFAULT_ELECTION_MS = 10_000;
const SHORT_ELECTION_MS = 1_000;
/** How many plants are stored before the disruption. */
const MIN_STORED = 500;

describeOnMongod('Three nodes and two repositories', function () {
  this.timeout(60_000);
  let set: ReplicaSet;
  let collection: string;
  let repositories: MongoPlantRepository[];

  before(async () => {
    set = await ReplicaSet.start({ members: 3, electionTimeoutMs: SHORT_ELECTION_MS });
  });

  after(async () => {
    await closeClient(set.uri);
    await set.stop();
  });

  beforeEach(async () => {
    await set.settled();
    collection = freshCollection();
    const open = () => new MongoPlantRepository({ uri: set.uri, collection });
    repositories = [open(), open()];
  });

  afterEach(() => Promise.all(repositories.map((repository) => repository.close())));

  async function createDuring(
    timeLimit: number,
    disruption: (creates: ConcurrentCreates) => Promise<void>,
  ): Promise<ConcurrentCreates> {
    const creates = new ConcurrentCreates(repositories, timeLimit);
    await creates.during(CALLERS, async () => {
      await creates.reported(MIN_STORED, 'stored');
      await disruption(creates);
    });
    await creates.verify(set.uri, collection);
    return creates;
  }

  it('store every plant within 15 s when the primary is killed, at the default election timeout', async () => {
    await set.electWithin(DEFAULT_ELECTION_MS);
    const primary = await set.primary();
    const creates = await createDuring(DEFAULT_TIME_LIMIT_MS, () => primary.kill());
    expect([creates.count('unavailable'), creates.count('unknown')]).to.deep.equal([0, 0]);
    await primary.restart();
    await set.electWithin(SHORT_ELECTION_MS);
  });

  it('store every plant when the primary steps down', async () => {
    const creates = await createDuring(DEFAULT_TIME_LIMIT_MS, () => set.stepDown());
    expect([creates.count('unavailable'), creates.count('unknown')]).to.deep.equal([0, 0]);
  });

  it('report true outcomes in time when the primary freezes', async () => {
    const primary = await set.primary();
    await createDuring(1_500, async (creates) => {
      primary.freeze();
      await creates.reported(1, 'unknown');
      primary.thaw();
    });
  });

  it('report true outcomes in time when all nodes are killed and started again', async () => {
    await createDuring(1_000, async (creates) => {
      await Promise.all(set.members.map((member) => member.kill()));
      await creates.reported(CALLERS, 'unavailable');
      await Promise.all(set.members.map((member) => member.restart()));
    });
  });

  it('report true outcomes when the primary cannot reach a majority', async () => {
    const primary = await set.primary();
    const others = set.members.filter((member) => member !== primary);
    await createDuring(1_000, async (creates) => {
      for (const member of others) member.freeze();
      await creates.reported(1, 'unknown');
      for (const member of others) member.thaw();
    });
  });
});
