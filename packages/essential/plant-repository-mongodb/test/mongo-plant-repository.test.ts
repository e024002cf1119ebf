import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { errorOf, until } from '@plant-store/contract-suite';
import { mocha } from '@plant-store/contract-suite/mocha';
import {
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import {
  busiestSocket,
  FaultyMongod,
  needsMongod,
  ReplicaSet,
} from '@plant-store/test-servers/mongod';
import { type Document, MongoClient } from 'mongodb';

const DATABASE = 'plant-store';
const PASSWORD = 's3cret';
/** The default of `REQUEST_DEADLINE_MS`. */
const LIMIT_MS = 15_000;
// Longer than a test may take, so that an add that waits for its deadline fails the test.
const LONG_LIMIT_MS = 300_000;
const ENDED_WITHIN_MS = 60_000;
/** The connections that the repository opens for inserts. */
const POOL_SIZE = 20;

const LONG_NAME = 'x'.repeat(100_000);

const plant = (id: bigint) => newPlant({ id, name: `plant ${id}` });

describe('plant-repository-mongodb on a real mongod:', () => {
  before(needsMongod);

  const opened: PlantRepository[] = [];
  let collections = 0;
  let collection: string;

  function open(uri: string): PlantRepository {
    const repository = new MongoPlantRepository(uri, collection);
    opened.push(repository);
    return repository;
  }

  function untilReady(plants: PlantRepository): Promise<void> {
    const isReady = async () => (await errorOf(plants.ready())) === undefined;
    return until(isReady, () => 'the repository was not ready');
  }

  beforeEach(() => {
    collections += 1;
    collection = `plants-${collections}`;
  });

  afterEach(() => Promise.all(opened.splice(0).map((it) => it.close())));

  describe('in a replica set with users,', () => {
    let mongod: FaultyMongod;
    let administrator: MongoClient;

    before(async () => {
      mongod = await FaultyMongod.start();
      administrator = new MongoClient(mongod.server.administratorUri);
    });

    after(async () => {
      await administrator.close();
      await mongod.stop();
    });

    beforeEach(() => mongod.renew());

    describePlantRepository(mocha, 'MongoPlantRepository', async () => {
      const reopen = async () => open(mongod.uri);
      return { ...mongod.hooks(collection), repository: await reopen(), reopen };
    });

    describe('MongoPlantRepository', () => {
      const admin = (command: Document) =>
        administrator.db('admin').command(command, { readPreference: 'primaryPreferred' });
      const uriOf = (user: string) =>
        `mongodb://${user}:${PASSWORD}@${mongod.network.host}/?authSource=admin&directConnection=true`;

      /** Creates a user with these permissions on the collection. Resolves with its connection string. */
      async function userWith(...actions: readonly string[]): Promise<string> {
        const user = `user-${collection}`;
        const resource = { db: DATABASE, collection };
        await admin({ createRole: user, privileges: [{ resource, actions }], roles: [] });
        await admin({ createUser: user, pwd: PASSWORD, roles: [user] });
        return uriOf(user);
      }

      it('needs only the permissions to read and to insert', async () => {
        const plants = open(await userWith('find', 'insert'));
        await plants.ready();
        await plants.add(plant(1n), LIMIT_MS);
        await rejects(plants.add(plant(1n), LIMIT_MS), PlantIdTakenError);
      });

      for (const action of ['find', 'insert']) {
        it(`is not ready with only the permission to ${action}, and says so`, async () => {
          const error = await errorOf(open(await userWith(action)).ready());
          match(`${(error as Error).cause}`, /not logged in as a user who may read and insert/);
        });
      }

      it('creates no collection when it is asked whether it is ready', async () => {
        await open(mongod.uri).ready();
        const found = administrator.db(DATABASE).listCollections({ name: collection });
        deepEqual(await found.toArray(), []);
      });

      it('logs in again after its user was removed and created again', async () => {
        const uri = await userWith('find', 'insert');
        const plants = open(uri);
        await plants.add(plant(1n), LIMIT_MS);
        await admin({ dropUser: `user-${collection}` });
        await rejects(plants.add(plant(2n), LONG_LIMIT_MS), StoreUnavailableError);
        const user = `user-${collection}`;
        await admin({ createUser: user, pwd: PASSWORD, roles: [user] });
        await untilReady(plants);
        await plants.add(plant(2n), LIMIT_MS);
      });

      it('reports an unknown outcome if a reply is lost and the next login is refused', async () => {
        const plants = open(await userWith('find', 'insert'));
        await plants.add(plant(1n), LIMIT_MS);
        await admin({ updateUser: `user-${collection}`, pwd: 'another' });
        mongod.network.loseResponses('cut');
        await rejects(plants.add(plant(2n), LONG_LIMIT_MS), OutcomeUnknownError);
      });

      it('reports an unknown outcome if a reply is lost and no primary is left', async () => {
        const plants = open(mongod.uri);
        await plants.add(plant(1n), LIMIT_MS);
        mongod.network.loseResponses('silence');
        const passed = mongod.network.requestPassed();
        // The first attempt ends after 3 s.
        const adding = plants.add(plant(2n), 5_000);
        await passed;
        await admin({ replSetStepDown: 60, force: true });
        await rejects(adding, OutcomeUnknownError).finally(() => admin({ replSetFreeze: 0 }));
        await untilReady(plants);
      });

      it('rejects a plant if the driver lacks a package, and names it', async () => {
        const plants = open(`${mongod.uri}&compressors=snappy`);
        const adding = plants.add(plant(1n), LONG_LIMIT_MS);
        await rejects(adding, { name: 'StoreUnavailableError', message: /`snappy` not found/ });
      });

      it('sends an insert again if the driver wrote it to a connection that had just ended', async () => {
        const plants = open(mongod.uri);
        const socket = await busiestSocket(() =>
          plants.add({ ...plant(1n), name: LONG_NAME }, LIMIT_MS),
        );
        socket.destroy();
        await plants.add(plant(2n), LIMIT_MS);
      });

      it('closes every connection, even if one ends while it closes', async () => {
        const plants = open(mongod.uri);
        const socket = await busiestSocket(() =>
          plants.add({ ...plant(1n), name: LONG_NAME }, LIMIT_MS),
        );
        socket.destroy();
        await plants.close();
        const areClosed = async () => mongod.network.connections === 0;
        await until(areClosed, () => `${mongod.network.connections} connections are open`);
      });

      it('names the unique index or the validator that refuses a plant, whose id is not taken', async () => {
        const plants = open(mongod.uri);
        await plants.add(plant(1n), LIMIT_MS);
        const db = administrator.db(DATABASE);
        await db.collection(collection).createIndex('name', { unique: true });
        const validator = { name: { $not: /^weed/ } };
        await db.command({ collMod: collection, validator });
        for (const [name, message] of [
          ['plant 1', 'the unique index on name has an entry with the same keys'],
          ['weed 2', 'the validator of the collection refuses the plant'],
        ] as const) {
          const refused = plants.add({ ...plant(2n), name }, LONG_LIMIT_MS);
          await rejects(refused, { name: 'Error', message });
        }
        await plants.add(plant(2n), LIMIT_MS);
      });

      it('rejects a plant that the driver cannot send, without trying again', async () => {
        const plants = open(mongod.uri);
        const adding = plants.add({ ...plant(1n), name: 'x'.repeat(17 * 2 ** 20) }, LONG_LIMIT_MS);
        await rejects(adding, { name: 'Error', message: /cannot send the plant \(RangeError\)/ });
        await plants.add(plant(1n), LIMIT_MS);
      });

      /** Makes the server treat inserts into the collection in this way while `work` runs. Resolves with how many it got. */
      async function whileInserts(behave: Document, work: () => Promise<unknown>) {
        const namespace = `${DATABASE}.${collection}`;
        const data = { failCommands: ['insert'], namespace, ...behave };
        const become = (mode: string) => admin({ configureFailPoint: 'failCommand', mode, data });
        const { count: before } = await become('alwaysOn');
        await work().catch(() => undefined);
        const { count: after } = await become('off');
        return after - before;
      }

      it('sends each of 100 plants once, however long they wait for a connection', async () => {
        const plants = open(mongod.uri);
        await plants.ready();
        const ids = Array.from({ length: 5 * POOL_SIZE }, (_, id) => BigInt(id));
        // The last ones wait for 3.2 s.
        const slow = { blockConnection: true, blockTimeMS: 800 };
        const add = () => Promise.all(ids.map((id) => plants.add(plant(id), LONG_LIMIT_MS)));
        equal(await whileInserts(slow, add), ids.length);
      });

      it('pauses before it sends an insert again', async () => {
        const plants = open(mongod.uri);
        await plants.ready();
        const sent = await whileInserts({ errorCode: 8 }, () => plants.add(plant(1n), 3_000));
        ok(sent > 1 && sent <= 30, `sent ${sent} times in 3 seconds`);
      });

      it('sends an insert again if its reply is lost, even while a permission is missing', async () => {
        const plants = open(await userWith('find', 'insert'));
        await plants.add(plant(1n), LIMIT_MS);
        mongod.network.loseResponses('silence');
        const passed = mongod.network.requestPassed();
        const adding = plants.add(plant(2n), LONG_LIMIT_MS);
        await passed;
        const resource = { db: DATABASE, collection };
        const privileges = [{ resource, actions: ['insert'] }];
        await admin({ updateRole: `user-${collection}`, privileges });
        await rejects(plants.ready(), StoreUnavailableError);
        await adding;
      });

      it('is ready whatever write concern the cluster has by default', async () => {
        const plants = open(mongod.uri);
        const byDefault = (defaultWriteConcern: object) =>
          admin({ setDefaultRWConcern: 1, defaultWriteConcern, writeConcern: { w: 'majority' } });
        await byDefault({ w: 2, wtimeout: 1 });
        await plants.ready().finally(() => byDefault({ w: 'majority' }));
      });

      it('uses few sessions for many plants, because a server keeps each for half an hour', async () => {
        const plants = open(mongod.uri);
        const status = () => admin({ serverStatus: 1 });
        const { logicalSessionRecordCache: before } = await status();
        for (let id = 0n; id < 50n; id += 1n) await plants.add(plant(id), LIMIT_MS);
        const { logicalSessionRecordCache: after } = await status();
        const added = after.activeSessionsCount - before.activeSessionsCount;
        ok(added < 10, `${added} sessions`);
      });

      it('asks a majority to journal each plant', async () => {
        const plants = open(mongod.uri);
        const db = administrator.db(DATABASE);
        await db.command({ profile: 2 });
        await plants.add(plant(1n), LIMIT_MS).finally(() => db.command({ profile: 0 }));
        const profile = db.collection('system.profile');
        const sent = await profile.findOne({ op: 'insert', ns: `${DATABASE}.${collection}` });
        deepEqual(sent?.command.writeConcern, { w: 'majority', j: true });
      });

      it('never sends an insert that was given up', async () => {
        const plants = open(mongod.uri);
        await plants.add(plant(1n), LIMIT_MS);
        mongod.network.freeze();
        const ids = Array.from({ length: POOL_SIZE }, (_, at) => BigInt(100 + at));
        const holders = ids.map((id) => plants.add(plant(id), LIMIT_MS));
        await rejects(plants.add(plant(2n), 500), StoreUnavailableError);
        await mongod.network.restore();
        await Promise.all(holders);
        await plants.add(plant(3n), LIMIT_MS);
        await plants.add(plant(2n), LIMIT_MS);
      });

      it('lets the process end if it is closed while it reads TLS files', async () => {
        const script = `
          import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
          const plants = new MongoPlantRepository('${mongod.uri}&${mongod.server.tls}');
          plants.ready().catch(() => undefined);
          await plants.close();`;
        const args = ['--input-type=module', '-e', script];
        const options = { cwd: import.meta.dirname, timeout: ENDED_WITHIN_MS };
        await promisify(execFile)(process.execPath, args, options);
      });
    });
  });

  it('MongoPlantRepository is not ready while no majority confirms a write, and says so', async () => {
    const set = await ReplicaSet.start({ members: 2 });
    // Until then, it is the primary even without a majority.
    await set.electWithin(60_000);
    const [, secondary] = set.members;
    const plants = open(set.uri);
    await untilReady(plants);
    secondary?.freeze();
    const error = await errorOf(plants.ready());
    match(`${error}`, /accepts no plants$/);
    match(`${(error as Error).cause}`, /: writes are not acknowledged in time: they are blocked/);
    secondary?.thaw();
    await untilReady(plants);
    await set.stop();
  });

  it('MongoPlantRepository stores a plant that was added before its database had started', async () => {
    const set = await ReplicaSet.start({ members: 1 });
    const [server] = set.members;
    await server?.kill();
    const plants = open(set.uri);
    const adding = plants.add(plant(1n), LONG_LIMIT_MS);
    await rejects(plants.ready(), /^StoreUnavailableError: the database at \S+ is not reachable$/);
    await server?.restart();
    await adding;
    await untilReady(plants);
    await set.stop();
  });
});
