import { inspect } from 'node:util';
import { mocha } from '@plant-store/contract-suite/mocha';
import { StoreUnavailableError } from '@plant-store/domain';
import { describePlantReader } from '@plant-store/plant-reader-contract';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { FaultyMongod } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { closeClient, freshCollection, keptDocuments, repositories } from './support/open-store.js';
import { plant } from './support/plant.js';

const LIMIT_MS = 10_000;

describeOnMongod('in a replica set with users,', () => {
  let mongod: FaultyMongod;
  const openAt = repositories();

  before(async () => {
    mongod = await FaultyMongod.start();
  });

  after(async () => {
    await closeClient(mongod.server.administratorUri);
    await mongod.stop();
  });

  beforeEach(() => mongod.renew());

  const open = async () => {
    const collection = freshCollection();
    const reopen = async () => openAt(mongod.uri, collection).repository;
    return { ...mongod.hooks(collection), repository: await reopen(), reopen };
  };

  describePlantRepository(mocha, 'batchedMongoPlantRepository', open);
  describePlantReader(mocha, 'batchedMongoPlantRepository', open);

  const overTls = {
    SCRAM: () => `${mongod.uri}&${mongod.server.tls}`,
    'X.509': () => `mongodb://${mongod.network.host}/?directConnection=true&${mongod.server.x509}`,
  };
  for (const [mechanism, uri] of Object.entries(overTls)) {
    it(`a store keeps plants over TLS with ${mechanism}, even after outages, and reveals no secret`, async () => {
      const { server, network } = mongod;
      const { repository, collection } = openAt(uri());
      await repository.add(plant(1n), LIMIT_MS);
      await network.cut();
      const error = await repository.ready().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(StoreUnavailableError);
      expect(inspect(error, { depth: 9 })).to.not.include(server.password);
      await network.restore();
      await repository.add(plant(2n), LIMIT_MS);
      const kept = await keptDocuments(server.administratorUri, collection);
      expect(kept.map(({ name }) => name)).to.deep.equal(['plant 1', 'plant 2']);
    });
  }
});
