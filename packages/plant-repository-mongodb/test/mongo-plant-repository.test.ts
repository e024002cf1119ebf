import { mocha } from '@plant-store/contract-suite/mocha';
import type { PlantRepository } from '@plant-store/domain';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { FaultyMongod, needsMongod } from '@plant-store/test-servers/mongod';

describe('On a real mongod', () => {
  before(needsMongod);

  describe('On a replica set with users, which can be killed', () => {
    const opened: PlantRepository[] = [];
    let mongod: FaultyMongod;
    let collections = 0;

    before(async () => {
      mongod = await FaultyMongod.start();
    });

    after(() => mongod.stop());

    beforeEach(() => mongod.renew());

    afterEach(() => Promise.all(opened.splice(0).map((it) => it.close())));

    describePlantRepository(mocha, 'MongoPlantRepository', async () => {
      collections += 1;
      const collection = `plants-${collections}`;
      const reopen = async () => {
        const repository = new MongoPlantRepository(mongod.uri, collection);
        opened.push(repository);
        return repository;
      };
      return { ...mongod.hooks(collection), repository: await reopen(), reopen };
    });
  });
});
