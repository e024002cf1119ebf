import { randomUUID } from 'node:crypto';
import { MongodServer, needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { Command, serveHere, stopAll } from '../support/in-process.js';

/** Resolves with the settings of a database of its own. */
async function database(): Promise<{ MONGODB_URI: string; ACCESS_TOKEN_SHA256: string }> {
  const { uri } = await sharedReplicaSet();
  return { MONGODB_URI: uri.replace('/?', `/test-${randomUUID()}?`), ACCESS_TOKEN_SHA256 };
}

const errorOf = async (response: Promise<Response>) =>
  ((await (await response).json()) as { error?: number }).error;

describe('The service on MongoDB', () => {
  before(needsMongod);
  afterEach(stopAll);
  afterEach(endAll);

  it('still has every acknowledged plant after it was killed, and ends although it is connected', async () => {
    const env = await database();
    const first = await serve(env);
    const ids = Array.from({ length: 50 }, (_, index) => index);
    const responses = await Promise.all(ids.map((id) => createPlant(first.address, id)));
    expect(responses.every(({ status }) => status === 200)).to.equal(true);
    first.child.kill('SIGKILL');
    expect(await first.ended).to.equal('SIGKILL');

    const second = await serveHere({ ...env, MANAGEMENT_PORT: '0' });
    const taken = ids.map((id) => errorOf(createPlant(second.address, id)));
    expect(new Set(await Promise.all(taken))).to.deep.equal(new Set([4006]));
    expect((await createPlant(second.address, 50)).status).to.equal(200);
    const metrics = await (await fetch(`${second.management}/metrics`)).text();
    expect(metrics).to.match(/^plant_store_batch_size_sum [1-9]/m);
    expect(await second.stop()).to.equal(0);
  });

  it('starts without its database, logs one line about it, recovers by itself, and stays ready in an outage', async () => {
    const server = await MongodServer.stopped();
    const service = await serveHere({
      ...{ MONGODB_URI: server.uri, ACCESS_TOKEN_SHA256 },
      ...{ REQUEST_DEADLINE_MS: '500', MANAGEMENT_PORT: '0' },
    });
    const probe = async (path: string) => (await fetch(`${service.address}${path}`)).status;
    const gauge = async () => {
      const metrics = await (await fetch(`${service.management}/metrics`)).text();
      return /^plant_store_storage_reachable (\d)$/m.exec(metrics)?.[1];
    };
    await service.printed(new RegExp(`MONGODB_URI: .*not reachable \\(.*${server.host}.*\\)`));
    expect([await probe('/readyz'), await probe('/livez')]).to.deep.equal([503, 200]);
    expect(await errorOf(createPlant(service.address, 1))).to.equal(5030);
    expect(await gauge()).to.equal('0');
    await server.restart();
    await service.printed(/MONGODB_URI: the storage is reachable/);
    expect(await probe('/readyz')).to.equal(200);
    while ((await gauge()) !== '1');
    // On a busy machine, a create may take longer than its deadline.
    for (let id = 2; (await createPlant(service.address, id)).status !== 200; id += 1);

    await server.kill();
    await service.printed(/is reachable[\s\S]*not reachable/);
    expect(await gauge()).to.equal('0');
    const response = await createPlant(service.address, 1);
    expect(response.headers.get('Retry-After')).to.match(/^\d+$/);
    expect(await errorOf(Promise.resolve(response))).to.equal(5030);
    expect(await probe('/readyz')).to.equal(200);
    expect(await service.stop()).to.equal(0);
    await server.stop();
  });

  it('is checked with the warnings of the start, and no collection is created', async () => {
    const env = { ...(await database()), REQUEST_DEADLINE_MS: '500' };
    const check = new Command(['check'], env);
    expect(await check.ended).to.equal(0);
    expect(check.out).to.match(/^storage \(mongodb\): ready$/m);
    expect(check.out).to.match(/^checked by connecting: nothing was created or changed$/m);
    expect(check.err).to.match(/^plant-store: warning: REQUEST_DEADLINE_MS: /m);
    expect(check.err).to.match(/^plant-store: warning: the collection does not exist yet: /m);
    const client = await MongoClient.connect(env.MONGODB_URI);
    expect(await client.db().listCollections().toArray()).to.deep.equal([]);
    await client.close();
  });
});
