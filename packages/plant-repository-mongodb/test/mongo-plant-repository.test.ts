import { needsMongod } from '@plant-store/mongod';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { openStore } from './support/open-store.js';

describe('On a real replica set', () => {
  before(needsMongod);
  describePlantRepository('MongoPlantRepository', () => openStore());
});
