import { rejects } from 'node:assert/strict';
import { PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import { sharedReplicaSet } from '@plant-store/mongod';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { clientOf, DATABASE, freshCollection, untilReady } from './support/open-store.js';
import { plant } from './support/plant.js';

const LONG_LIMIT_MS = 60_000;
const STALL_MS = 1_500;

/** The thread does nothing else until it returns. */
function stall(): void {
  const end = performance.now() + STALL_MS;
  while (performance.now() < end);
}

describeOnMongod('Round trips', () => {
  let repository: PlantRepository;
  let collection: string;
  let uri: string;

  beforeEach(async () => {
    ({ uri } = await sharedReplicaSet());
    collection = freshCollection();
    await database().command({ profile: 2 });
    repository = mongoPlantRepository({ uri, collection });
    await untilReady(repository);
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
    expect(await kinds()).to.deep.equal(['insert', 'insert']);
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
