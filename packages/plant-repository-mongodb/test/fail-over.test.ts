import { setTimeout as pause } from 'node:timers/promises';
import { ReplicaSet } from '@plant-store/mongod';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { Creates } from './support/creates.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { closeClient, freshCollection } from './support/open-store.js';

const CALLERS = 60;
const DEFAULT_TIME_LIMIT = 15_000;
const MONGODB_ELECTION = 10_000;
const SHORT_ELECTION = 1_000;
/** How long the callers are at work before something happens. */
const IN_CALM = 200;

describeOnMongod('Three nodes and two repositories', function () {
  this.timeout(60_000);
  let set: ReplicaSet;
  let collection: string;
  let repositories: MongoPlantRepository[];

  before(async () => {
    set = await ReplicaSet.start({ members: 3, electionTimeoutMs: SHORT_ELECTION });
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

  async function createDuring(timeLimit: number, happening: () => Promise<void>): Promise<Creates> {
    const creates = new Creates(repositories, timeLimit);
    await creates.during(CALLERS, async () => {
      await pause(IN_CALM);
      await happening();
    });
    await creates.verify(set.uri, collection);
    return creates;
  }

  it('store every plant within 15 s when the primary is killed, at the default election timeout', async () => {
    await set.electWithin(MONGODB_ELECTION);
    const primary = await set.primary();
    const creates = await createDuring(DEFAULT_TIME_LIMIT, () => primary.kill());
    expect([creates.count('unavailable'), creates.count('unknown')]).to.deep.equal([0, 0]);
    await primary.restart();
    await set.electWithin(SHORT_ELECTION);
  });

  it('store every plant when the primary steps down', async () => {
    const creates = await createDuring(DEFAULT_TIME_LIMIT, () => set.stepDown());
    expect([creates.count('unavailable'), creates.count('unknown')]).to.deep.equal([0, 0]);
  });

  it('tell the truth, in time, when the primary freezes', async () => {
    const primary = await set.primary();
    await createDuring(1_500, async () => {
      primary.freeze();
      await pause(3_000);
      primary.thaw();
    });
  });

  it('tell the truth, in time, when all nodes are killed and started again', async () => {
    const creates = await createDuring(1_000, async () => {
      await Promise.all(set.members.map((member) => member.kill()));
      await pause(1_500);
      await Promise.all(set.members.map((member) => member.restart()));
    });
    expect(creates.count('unavailable')).to.be.greaterThan(0);
  });

  it('tell the truth when the primary cannot reach a majority', async () => {
    const primary = await set.primary();
    const others = set.members.filter((member) => member !== primary);
    const creates = await createDuring(1_000, async () => {
      for (const member of others) member.freeze();
      await pause(1_500);
      for (const member of others) member.thaw();
    });
    expect(creates.count('unknown')).to.be.greaterThan(0);
  });
});
