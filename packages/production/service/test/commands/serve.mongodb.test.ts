import { randomUUID } from 'node:crypto';
import {
  MongodServer,
  needsMongod,
  ReplicaSet,
  sharedReplicaSet,
} from '@plant-store/test-servers/mongod';
import { ACCESS_TOKEN_SHA256, createPlant } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { metricsOf, result, serveHere, stopAll } from '../support/in-process.js';
import { CLIENT, newFiles, numbered } from '../support/plant-files.js';

const errorOf = async (response: Promise<Response>) =>
  ((await (await response).json()) as { error?: number }).error;

describe('The service on MongoDB', () => {
  const { write } = newFiles();
  before(needsMongod);
  afterEach(stopAll);

  for (const inserts of ['batched', 'single']) {
    it(`starts without its database, recovers by itself, and stays ready during outages, with ${inserts} inserts`, async () => {
      const set = await ReplicaSet.start({ members: 1 });
      const server = set.members[0] as MongodServer;
      await server.kill();
      const env = { MONGODB_INSERTS: inserts, REQUEST_DEADLINE_MS: '500', MANAGEMENT_PORT: '0' };
      const service = await serveHere({ MONGODB_URI: set.uri, ...env });
      const probe = async (path: string) => (await fetch(`${service.address}${path}`)).status;
      await service.printed(new RegExp(`MONGODB_URI: .*not reachable \\(.*${server.host}.*\\)`));
      expect([await probe('/readyz'), await probe('/livez')]).to.deep.equal([503, 200]);
      expect(await errorOf(createPlant(service.address, 1))).to.equal(5030);
      expect(service.out.match(/"a request failed"/g)).to.have.length(1);
      expect(await metricsOf(service)).to.include.members([
        'plant_store_plants_total{outcome="unavailable"} 1',
        'plant_store_storage_reachable 0',
      ]);
      await server.restart();
      await service.printed(/MONGODB_URI: the database is reachable/);
      expect(await probe('/readyz')).to.equal(200);
      while (!(await metricsOf(service)).includes('plant_store_storage_reachable 1'));
      // On a busy machine, a create may take longer than its deadline.
      for (let id = 2; (await createPlant(service.address, id)).status !== 200; id += 1);

      await server.kill();
      await service.printed(/is reachable[\s\S]*not reachable/);
      expect(await metricsOf(service)).to.include('plant_store_storage_reachable 0');
      const response = await createPlant(service.address, 1);
      expect(response.headers.get('Retry-After')).to.match(/^\d+$/);
      expect(await errorOf(Promise.resolve(response))).to.equal(5030);
      expect(await probe('/readyz')).to.equal(200);
      expect(await service.stop()).to.equal(0);
      await set.stop();
    });
  }

  it('refuses a standalone server with MONGODB_INSERTS=single, and says why', async () => {
    const server = await MongodServer.start();
    const env = { MONGODB_URI: server.uri, MONGODB_INSERTS: 'single', ...CLIENT };
    const check = await result(['check'], env);
    expect(check.code).to.equal(1);
    expect(check.out).to.match(
      /^store \(mongodb\): not ready: MONGODB_URI: .* a standalone: use a replica set/m,
    );
    expect(check.err).to.match(/^plant-store: warning: MONGODB_INSERTS: with single, at most 20 /m);
    await server.stop();
  });

  it('imports and exports plants with MONGODB_INSERTS=single, whatever MAX_IN_FLIGHT is', async () => {
    const MONGODB_URI = (await sharedReplicaSet()).uri.replace('/?', `/test-${randomUUID()}?`);
    const env = { MONGODB_URI, MONGODB_INSERTS: 'single', MAX_IN_FLIGHT: '1', ...CLIENT };
    const plants = numbered(20);
    const imported = await result(['import', write(plants)], env);
    expect(imported).to.include({ code: 0, out: '' });
    const { code, out } = await result(['export'], env);
    expect([code, out]).to.deep.equal([0, plants.join('')]);
  });

  it('is checked without creating anything, and each warning shows its correction', async () => {
    const MONGODB_URI = (await sharedReplicaSet()).uri.replace('/?', `/test-${randomUUID()}?`);
    const env = { MONGODB_URI, ACCESS_TOKEN_SHA256, REQUEST_DEADLINE_MS: '500' };
    const check = await result(['check'], env);
    expect(check.code).to.equal(0);
    expect(check.out).to.match(/^store \(mongodb\): ready$/m);
    expect(check.out).to.match(/^connections checked; nothing was created or changed$/m);
    expect(check.err).to.match(/^plant-store: warning: REQUEST_DEADLINE_MS: /m);
    expect(check.err).to.match(/^plant-store: warning: the collection does not exist yet: /m);
    await using client = await MongoClient.connect(MONGODB_URI);
    expect(await client.db().listCollections().toArray()).to.deep.equal([]);

    await client.db().createCollection('plants');
    const { err } = await result(['check'], env);
    expect(err).to.match(
      /^plant-store: warning: the collection does not have the validator .*\nplant-store: run: db\..*collMod/m,
    );
  });
});
