import { rejects } from 'node:assert/strict';
import { PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import { sharedReplicaSet } from '@plant-store/mongod';
import type { PlantBatch } from '@plant-store/plant-repository-group-commit';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { MongoPlantStorage } from '../src/mongo-plant-storage.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  clientOf,
  DATABASE,
  freshCollection,
  networkInFrontOf,
  uriThrough,
} from './support/open-store.js';
import { plant } from './support/plant.js';

const LONG_LIMIT_MS = 60_000;
const STALL_MS = 1_500;

/** The thread does nothing else until it returns. */
function stall(): void {
  const end = performance.now() + STALL_MS;
  while (performance.now() < end);
}

/** The driver serializes a command when it has a connection that can send it. */
describeOnMongod('An insert', () => {
  let network: FaultyNetwork;
  let storage: MongoPlantStorage;
  /** The ids of the batches that were sent, in this order. */
  let sent: bigint[];

  beforeEach(async () => {
    const set = await sharedReplicaSet();
    network = await networkInFrontOf(set.members[0]?.port ?? 0);
    const options = { collection: freshCollection(), createCollection: true };
    storage = new MongoPlantStorage(uriThrough(network), options);
    sent = [];
  });

  afterEach(async () => {
    await network.restore();
    await storage.close();
    await network.close();
  });

  function batch(id: bigint, mark = storage.newMark()): PlantBatch {
    return {
      timeLimitMs: LONG_LIMIT_MS,
      send() {
        if (!sent.includes(id)) sent.push(id);
        return [{ plant: plant(id), mark }];
      },
    };
  }

  it('stores plants with their marks, or finds their ids, which a double cannot tell apart', async () => {
    const [id, neighbour] = [2n ** 53n + 1n, 2n ** 53n];
    const marks = [id, neighbour].map((it) => [it, storage.newMark()] as const);
    for (const [it, mark] of marks) {
      expect(await storage.insert(batch(it, mark))).to.deep.equal({ outcomes: ['stored'] });
    }
    expect(await storage.insert(batch(id))).to.deep.equal({ outcomes: ['id exists'] });
    const found = await storage.committedMarks([id, neighbour, 2n], new AbortController().signal);
    expect(found).to.have.lengthOf(2);
    for (const [it, mark] of marks) expect(`${found.get(it)}`).to.equal(`${mark}`);
  });

  it('is sent on a connection only, and ends without a reply when that is lost', async () => {
    await storage.insert(batch(1n));
    network.freeze();
    const open = rejects(storage.insert(batch(2n)));
    await rejects(storage.insert(batch(3n)));
    expect(sent).to.deep.equal([1n, 2n]);
    await network.cut();
    await open;
  });

  it('is not sent when no server can be reached', async () => {
    await network.cut();
    await rejects(storage.insert(batch(1n)));
    expect(sent).to.deep.equal([]);
  });

  it('does not keep a look-up from being ended', async () => {
    await storage.insert(batch(1n));
    network.freeze();
    const end = new AbortController();
    const reason = new Error('no client waits');
    const looking = storage.committedMarks([1n], end.signal);
    end.abort(reason);
    await rejects(looking, reason);
  });
});

describeOnMongod('Round trips', () => {
  let repository: PlantRepository;
  let collection: string;
  let uri: string;

  beforeEach(async () => {
    ({ uri } = await sharedReplicaSet());
    collection = freshCollection();
    await database().command({ profile: 2 });
    repository = mongoPlantRepository({ uri, collection });
    await repository.ready();
  });

  afterEach(async () => {
    await repository.close();
    await database().command({ profile: 0 });
  });

  const database = () => clientOf(uri).db(DATABASE);
  const add = (id: number) => repository.add(plant(BigInt(id)), LONG_LIMIT_MS);

  /** The inserts and look-ups of the repository, as the server has recorded them. */
  async function commands(): Promise<Document[]> {
    const ofPlants = { ns: `${DATABASE}.${collection}`, op: { $in: ['insert', 'query'] } };
    return database().collection('system.profile').find(ofPlants).sort({ ts: 1 }).toArray();
  }

  const kinds = async () => (await commands()).map(({ op }) => op);

  it('are one for a create whose reply arrives while the event loop is stalled past its time limit', async () => {
    await add(1);
    setImmediate(() => setImmediate(stall));
    await repository.add(plant(2n), STALL_MS / 2);
    expect(await kinds()).to.deep.equal(['insert']);
  });

  it('are one for each of several creates in sequence, and two for a duplicate: with a look-up', async () => {
    for (let id = 0; id < 3; id += 1) await add(id);
    await rejects(add(1), PlantIdTakenError);
    expect(await kinds()).to.deep.equal([...Array(4).fill('insert'), 'query']);
    const lookUp = (await commands()).at(-1);
    expect(lookUp?.command.readConcern).to.deep.include({ level: 'majority' });
  });

  it('are one for 200 concurrent creates', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, id) => add(id)));
    expect(await kinds()).to.deep.equal(['insert']);
  });
});
