import type { PlantRepository } from '@plant-store/domain';
import { CALLERS, ConcurrentCreates } from '@plant-store/plant-repository-contract';
import { StoreDegradedError } from '@plant-store/plant-repository-group-commit';
import { ReplicaSet } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  clientOf,
  closeClient,
  freshCollection,
  keptDocuments,
  repositories,
} from './support/open-store.js';
import { plant } from './support/plant.js';

/** Longer than the driver waits for a primary, so that a store must try again. */
const ELECTION_MS = 3_000;
/** MongoDB's default. */
const DEFAULT_ELECTION_MS = 10_000;
/** The default of `REQUEST_DEADLINE_MS`. */
const LIMIT_MS = 15_000;
/** How many times a client creates a plant. */
const ROUNDS = 2;
/** The connections for inserts, pages, checks, and the driver's monitor. */
const MAX_CONNECTIONS = 50;

describeOnMongod('three nodes', function () {
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
    await creates.during(() => disruption(creates));
    const documents = await keptDocuments(set.uri, collection);
    const kept = new Map(documents.map(({ _id, name }) => [_id, name]));
    expect(creates.falseOutcomes(kept)).to.deep.equal([]);
    return creates;
  }

  it('store every plant when the primary is killed, and report true outcomes', async () => {
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

describeOnMongod('a majority that lags', function () {
  this.timeout(120_000);
  let set: ReplicaSet;
  let repository: PlantRepository;
  let id = 0n;

  before(async () => {
    set = await ReplicaSet.start({ members: 2 });
  });

  after(async () => {
    await closeClient(set.uri);
    await set.stop();
  });

  afterEach(() => set.delaySecondary(0));

  const open = repositories();

  const add = () => {
    id += 1n;
    return repository.add(plant(id), LIMIT_MS);
  };

  const status = () => clientOf(set.uri).db('admin').command({ serverStatus: 1 });

  it('by 8 s causes no failed create with 100 clients, and only a few new connections', async () => {
    ({ repository } = open(set.uri));
    await add();
    await set.delaySecondary(8);
    const before = await status();
    const client = async () => {
      for (let round = 0; round < ROUNDS; round += 1) await add();
    };
    await Promise.all(Array.from({ length: 100 }, client));
    const { connections } = await status();
    const created = connections.totalCreated - before.connections.totalCreated;
    expect(created).to.be.below(MAX_CONNECTIONS);
  });

  it('lets an instance that starts create plants, and is reported', async () => {
    await set.delaySecondary(4);
    const opened = open(set.uri);
    repository = opened.repository;
    await add();
    const slow = opened.events.of('store unreachable').at(-1)?.error;
    expect(slow).to.be.instanceOf(StoreDegradedError);
    expect(slow).to.have.nested.property('cause.message').that.includes('not acknowledged in time');
  });
});
