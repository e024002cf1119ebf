import type { NewPlantFields } from '@plant-store/domain';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import { MongodServer, ReplicaSet } from '@plant-store/mongod';
import {
  describePlantReader,
  describePlantRepository,
} from '@plant-store/plant-repository-contract';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  clientOf,
  closeClient,
  DATABASE,
  freshCollection,
  networkFaults,
  networkInFrontOf,
  reconnect,
  storeOf,
  uriThrough,
} from './support/open-store.js';

const PASSWORD = 'a pass/word';

describeOnMongod('On a server that can be killed', function () {
  this.timeout(60_000);

  describe('of a replica set', () => {
    let set: ReplicaSet;
    let network: FaultyNetwork;

    before(async () => {
      set = await ReplicaSet.start({ members: 1 });
    });

    after(async () => {
      await closeClient(set.uri);
      await set.stop();
    });

    beforeEach(async () => {
      network = await networkInFrontOf((await set.primary()).port);
    });

    afterEach(() => network.close());

    const open = async () => {
      const collection = freshCollection();
      const session = clientOf(set.uri).startSession();
      const plants = clientOf(set.uri).db(DATABASE).collection<{ _id: bigint }>(collection);
      return {
        ...storeOf(uriThrough(network), set.uri, collection),
        ...networkFaults(network),
        async holdUncommitted({ id: _id, ...fields }: NewPlantFields) {
          session.startTransaction();
          await plants.insertOne({ _id, ...fields }, { session, bypassDocumentValidation: true });
        },
        relaxDurability: () => writeByDefault({ w: 1, j: false }),
        async commitUnflushed({ id: _id, ...fields }: NewPlantFields) {
          const writeConcern = { w: 1, journal: false };
          await plants.insertOne(
            { _id, ...fields },
            { writeConcern, bypassDocumentValidation: true },
          );
        },
        async recover() {
          if (session.inTransaction()) await session.abortTransaction();
          await network.restore();
          await writeByDefault({ w: 'majority' });
        },
        async crash() {
          const primary = await set.primary();
          await primary.kill();
          await primary.restart();
        },
      };
    };

    const writeByDefault = async (defaultWriteConcern: object) => {
      const command = { setDefaultRWConcern: 1, defaultWriteConcern };
      await clientOf(set.uri).db('admin').command(command);
    };

    const without = { refuseAccess: 'this server has no users; that of the next suite has' };
    describePlantRepository('MongoPlantRepository', open, { without });
    describePlantReader('MongoPlantRepository', open, { without });
  });

  describe('with users', () => {
    let server: MongodServer;
    let network: FaultyNetwork;

    before(async () => {
      server = await MongodServer.start({ args: ['--auth'] });
      await server.command({ createUser: 'root', pwd: PASSWORD, roles: ['root'] });
      await admin({ createUser: 'plant-store', pwd: PASSWORD, roles: [] });
    });

    after(async () => {
      await closeClient(uriFor('root', server.host));
      await server.stop();
    });

    beforeEach(async () => {
      network = await networkInFrontOf(server.port);
      await allow();
    });

    afterEach(() => network.close());

    const uriFor = (user: string, host: string) =>
      `mongodb://${user}:${encodeURIComponent(PASSWORD)}@${host}/?directConnection=true&authSource=admin`;

    const admin = (command: object) =>
      clientOf(uriFor('root', server.host)).db('admin').command(command);

    const roles = [{ role: 'readWrite', db: DATABASE }];
    const allow = () => admin({ updateUser: 'plant-store', roles });

    const open = async () => ({
      ...storeOf(uriFor('plant-store', network.host), uriFor('root', server.host)),
      ...networkFaults(network),
      secrets: [PASSWORD],
      async crash() {
        await server.kill();
        await server.restart();
      },
      async refuseAccess() {
        await admin({ updateUser: 'plant-store', roles: [] });
        await reconnect(network);
      },
      async recover() {
        await network.restore();
        await allow();
      },
    });

    const without = {
      holdUncommitted: 'this server has no transactions; the replica set above has',
      relaxDurability: 'it does not depend on users; the suite of the replica set tests it',
      commitUnflushed: 'it does not depend on users; the suite of the replica set tests it',
    };
    describePlantRepository('MongoPlantRepository with a password', open, { without });
    describePlantReader('MongoPlantRepository with a password', open, { without });
  });
});
