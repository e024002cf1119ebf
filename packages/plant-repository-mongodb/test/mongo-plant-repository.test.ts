import { sharedReplicaSet } from '@plant-store/mongod';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { FaultyNetwork } from './support/faulty-network.js';
import { openStore } from './support/open-store.js';

describeOnMongod('One replica set', () => {
  let network: FaultyNetwork;

  beforeEach(async () => {
    const [member] = (await sharedReplicaSet()).members;
    network = await FaultyNetwork.before(member?.port ?? 0);
  });

  afterEach(() => network.close());

  describePlantRepository('MongoPlantRepository', () => openStore(network));
});
