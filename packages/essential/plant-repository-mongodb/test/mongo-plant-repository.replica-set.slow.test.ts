import { deepEqual, rejects } from 'node:assert/strict';
import { newPlant, type PlantRepository, StoreUnavailableError } from '@plant-store/domain';
import { ConcurrentCreates } from '@plant-store/plant-repository-contract';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { MongodServer, needsMongod, ReplicaSet } from '@plant-store/test-servers/mongod';
import { type Document, MongoClient } from 'mongodb';

const ELECTION_MS = 3_000;
/** The default of `REQUEST_DEADLINE_MS`. */
const LIMIT_MS = 15_000;
/** The others elect a primary only when the frozen one has not responded for about 10 s. */
const FROZEN_LIMIT_MS = 60_000;

describe('plant-repository-mongodb on a real mongod:', () => {
  before(needsMongod);

  describe('MongoPlantRepository on three nodes', function () {
    this.timeout(90_000);
    let set: ReplicaSet;
    let client: MongoClient;
    let killed: MongodServer | undefined;
    let frozen: MongodServer | undefined;

    before(async () => {
      set = await ReplicaSet.start({ members: 3, electionTimeoutMs: ELECTION_MS });
      client = new MongoClient(set.uri);
    });

    after(async () => {
      await client.close();
      await set.stop();
    });

    afterEach(async () => {
      await killed?.restart();
      killed = undefined;
      frozen?.thaw();
      frozen = undefined;
      await set.settled();
    });

    const failovers = {
      'is killed': async () => {
        killed = await set.primary();
        await killed.kill();
      },
      freezes: async () => {
        frozen = await set.primary();
        frozen.freeze();
      },
      'steps down': () => set.stepDown(),
    };
    for (const [name, failover] of Object.entries(failovers)) {
      it(`stores every plant, and reports true outcomes, when the primary ${name}`, async () => {
        const collection = `plants-${name}`;
        const stores: PlantRepository[] = [1, 2].map(
          () => new MongoPlantRepository(set.uri, collection),
        );
        const limitMs = name === 'freezes' ? FROZEN_LIMIT_MS : LIMIT_MS;
        const creates = new ConcurrentCreates(stores, limitMs);
        await creates.during(failover);
        await Promise.all(stores.map((it) => it.close()));
        const options = { promoteLongs: false, readConcern: { level: 'majority' } } as const;
        const plants = client.db('plant-store').collection<Document>(collection);
        const documents: Document[] = await plants.find({}, options).toArray();
        const kept = new Map(documents.map(({ _id, name }) => [_id.toBigInt(), name]));
        deepEqual(creates.falseOutcomes(kept), []);
        deepEqual([creates.count('unavailable'), creates.count('unknown')], [0, 0]);
      });
    }
  });

  it('MongoPlantRepository refuses a standalone server, which does not recognise a repeated insert', async () => {
    const server = await MongodServer.start();
    const plants = new MongoPlantRepository(server.uri);
    const adding = plants.add(newPlant({ id: 1n, name: 'Monstera' }), LIMIT_MS);
    await rejects(adding, StoreUnavailableError);
    await plants.close();
    await server.stop();
  });
});
