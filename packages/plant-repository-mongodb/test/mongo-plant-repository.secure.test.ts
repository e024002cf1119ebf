import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import { SecureMongod } from '@plant-store/mongod';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  clientOf,
  closeClient,
  freshCollection,
  networkFaults,
  networkInFrontOf,
  storeOf,
} from './support/open-store.js';
import { plant } from './support/plant.js';
import { StorageEvents } from './support/storage-events.js';

const LONG_LIMIT_MS = 20_000;

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

  for (const [what, uri, reason] of [
    ['password is wrong', () => withPassword('plant-store', 'wrong'), /password is wrong/],
    ['user has no permissions', () => withPassword('guest'), /the permissions to read and insert/],
  ] as const) {
    it(`the repository is not ready and refuses plants at once when the ${what}`, async () => {
      const repository = new MongoPlantRepository({ uri: uri() });
      await rejects(repository.ready(), (error) => {
        expect(error).to.be.instanceOf(StorageUnavailableError);
        expect(error).to.have.property('waits', false);
        const { message, cause } = error as StorageUnavailableError;
        expect(`${message} (${cause})`).to.match(reason);
        return true;
      });
      await rejects(repository.add(plant(1n), LONG_LIMIT_MS), StorageUnavailableError);
      await repository.close();
    });
  }

  it('the repository reports once that the user is unknown, and once that it is accepted', async () => {
    const events = new StorageEvents();
    const { administratorUri, password } = server;
    const repository = new MongoPlantRepository({
      uri: withPassword('newcomer'),
      collection: freshCollection(),
      observer: events.observer,
    });
    const unreachable = await events.first('storage unreachable');
    expect(unreachable).to.have.nested.property('error.cause.message').that.includes('user name');
    expect(events.of('storage reachable')).to.have.length(0);
    const roles = [{ role: 'readWrite', db: 'plant-store' }];
    const command = { createUser: 'newcomer', pwd: password, roles };
    await clientOf(administratorUri).db('admin').command(command);
    await events.first('storage reachable');
    await repository.add(plant(1n), LONG_LIMIT_MS);
    await repository.close();
    expect(events.of('storage unreachable')).to.have.length(1);
    expect(events.of('storage reachable')).to.have.length(1);
  });
});
