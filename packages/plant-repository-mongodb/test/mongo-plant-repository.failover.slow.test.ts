import { ReplicaSet } from '@plant-store/mongod';
import { ConcurrentCreates } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { closeClient, freshCollection, keptDocuments, repositories } from './support/open-store.js';

const CALLERS = 30;
/** Longer than the driver waits for a primary, so that a store must try again. */
const ELECTION_MS = 3_000;
/** MongoDB's default. */
const DEFAULT_ELECTION_MS = 10_000;
/** The default of `REQUEST_DEADLINE_MS`. */
const LIMIT_MS = 15_000;
/** How many plants are stored before the disruption. */
const MIN_STORED = 150;

describeOnMongod('Three nodes', function () {
  this.timeout(90_000);
  let set: ReplicaSet;
  let collection: string;
  const open = repositories();

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
  });

  async function createDuring(
    timeLimitMs: number,
    disruption: (creates: ConcurrentCreates) => Promise<void>,
  ): Promise<ConcurrentCreates> {
    const stores = [1, 2].map(() => open(set.uri, collection).repository);
    const creates = new ConcurrentCreates(stores, timeLimitMs);
    await creates.during(CALLERS, async () => {
      await creates.reported(MIN_STORED, 'stored');
      await disruption(creates);
    });
    const documents = await keptDocuments(set.uri, collection);
    const kept = new Map(documents.map(({ _id, name }) => [_id, name]));
    expect(creates.falseOutcomes(kept)).to.deep.equal([]);
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

  it('report true outcomes when the primary freezes, or cannot reach a majority', async () => {
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
});
