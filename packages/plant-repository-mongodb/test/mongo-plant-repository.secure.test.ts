import type { FaultyNetwork } from '@plant-store/faulty-network';
import { SecureMongod } from '@plant-store/mongod';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { closeClient, networkFaults, networkInFrontOf, storeOf } from './support/open-store.js';

describeOnMongod('With TLS and users', function () {
  this.timeout(60_000);
  let server: SecureMongod;
  let network: FaultyNetwork;

  before(async () => {
    server = await SecureMongod.start();
  });

  after(async () => {
    await closeClient(server.administratorUri);
    await server.stop();
  });

  beforeEach(async () => {
    network = await networkInFrontOf(server.port);
  });

  afterEach(() => network.close());

  const withPassword = (user: string, password = server.password) =>
    `mongodb://${user}:${password}@${network.host}/?authSource=admin&directConnection=true&${server.tls}`;
  const withCertificate = () => `mongodb://${network.host}/?directConnection=true&${server.x509}`;
  const open = async (uri: string) => {
    const { stall, outage, recover } = networkFaults(network);
    const secrets = [server.password];
    return { ...storeOf(uri, server.administratorUri), secrets, stall, outage, recover };
  };

  const encrypted = 'TLS hides which request is an insert; the suites without TLS test it';
  const elsewhere = 'it does not depend on TLS; the suites without TLS test it';
  const without = {
    silenceAfterWrite: encrypted,
    loseNextAcknowledgement: encrypted,
    refuseAccess: elsewhere,
    holdUncommitted: elsewhere,
    relaxDurability: elsewhere,
    commitUnflushed: elsewhere,
    crash: elsewhere,
  };

  describePlantRepository(
    'MongoPlantRepository with SCRAM',
    () => open(withPassword('plant-store')),
    { without },
  );

  describePlantRepository('MongoPlantRepository with X.509', () => open(withCertificate()), {
    without,
  });
});
