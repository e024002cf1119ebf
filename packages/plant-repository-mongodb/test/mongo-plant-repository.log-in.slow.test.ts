import { FaultyNetwork } from '@plant-store/faulty-network';
import { SecureMongod } from '@plant-store/mongod';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { freshCollection } from './support/open-store.js';
import { plant } from './support/plant.js';

/** The driver opens two connections at once. */
const LOST_LOG_INS = 2;

describeOnMongod('A connection that is lost without a sign while it logs in', () => {
  let server: SecureMongod;
  let network: FaultyNetwork;

  before(async () => {
    server = await SecureMongod.start({ tlsOptional: true });
    network = await FaultyNetwork.before(server.port, 'saslContinue');
  });

  after(async () => {
    await network.close();
    await server.stop();
  });

  it('makes room for another one', async () => {
    network.loseResponses(...Array<'silence'>(LOST_LOG_INS).fill('silence'));
    const user = `plant-store:${encodeURIComponent(server.password)}`;
    const uri = `mongodb://${user}@${network.host}/?authSource=admin&directConnection=true`;
    const repository = mongoPlantRepository({ uri, collection: freshCollection() });
    try {
      await repository.add(plant(1n), 60_000);
    } finally {
      await repository.close();
    }
  });
});
