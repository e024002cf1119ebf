import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { openStore } from './support/open-store.js';

describeOnMongod('One replica set', () => {
  describePlantRepository('MongoPlantRepository', () => openStore());
});
