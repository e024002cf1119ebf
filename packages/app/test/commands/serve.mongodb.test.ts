import { randomUUID } from 'node:crypto';
import {
  MongodServer,
  needsMongod,
  ReplicaSet,
  SecureMongod,
  sharedReplicaSet,
} from '@plant-store/mongod';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, run, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';

async function start(env: Record<string, string>) {
  const service = await serve({ ACCESS_TOKEN_SHA256, ...env });
  const { address } = service;
  const create = (id: number, name: string) => createPlant(address, id, name);
  const becomesReady = async () => {
    while (!(await fetch(`${address}/readyz`)).ok);
  };
  return { ...service, create, becomesReady };
}

function uriOf(set: { readonly uri: string }): string {
  return set.uri.replace('/?', `/test-${randomUUID()}?`);
}

describe('The service on MongoDB', function () {
  this.timeout(30_000);
  before(needsMongod);
  afterEach(endAll);

  it('still has every acknowledged plant after it was killed', async () => {
    const MONGODB_URI = uriOf(await sharedReplicaSet());
    const first = await start({ MONGODB_URI });
    const ids = Array.from({ length: 50 }, (_, index) => index);
    const responses = await Promise.all(ids.map((id) => first.create(id, 'before')));
    expect(responses.every(({ status }) => status === 200)).to.equal(true);
    first.child.kill('SIGKILL');
    expect(await first.ended).to.equal('SIGKILL');
    const second = await start({ MONGODB_URI });
    for (const id of ids) {
      const response = await second.create(id, 'after');
      expect(await response.json()).to.deep.include({ error: 4006 });
    }
  });

  it('counts the batches that its storage reports', async () => {
    const MONGODB_URI = uriOf(await sharedReplicaSet());
    const service = await start({ MONGODB_URI, MANAGEMENT_PORT: '0' });
    expect((await service.create(1, 'Monstera')).status).to.equal(200);
    const metrics = await (await fetch(`${service.management}/metrics`)).text();
    expect(metrics).to.match(/^plant_store_batch_size_sum 1$/m);
  });

  it('drains before it closes the storage', async () => {
    const service = await start({ MONGODB_URI: uriOf(await sharedReplicaSet()) });
    await service.becomesReady();
    const ids = Array.from({ length: 200 }, (_, index) => index);
    const responses = ids.map((id) => service.create(id, 'in time').then(({ status }) => status));
    await Promise.race(responses);
    service.child.kill('SIGTERM');
    const settled = await Promise.allSettled(responses);
    const statuses = settled.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(await service.ended).to.equal(0);
  });

  it('starts without its database, logs one line about it, and recovers by itself', async () => {
    const server = await MongodServer.start();
    await server.kill();
    const service = await start({ MONGODB_URI: server.uri, REQUEST_DEADLINE_MS: '500' });
    await service.printed(new RegExp(`MONGODB_URI: .*not reachable \\(.*${server.host}.*\\)`));
    const readiness = await fetch(`${service.address}/readyz`);
    expect([readiness.status, await readiness.json()]).to.deep.include(503);
    expect(await (await service.create(1, 'early')).json()).to.deep.include({ error: 5030 });
    expect((await fetch(`${service.address}/livez`)).status).to.equal(200);
    await server.restart();
    await service.becomesReady();
    expect((await service.create(1, 'late')).status).to.equal(200);
    await server.stop();
  });

  it('reports a long outage with 5030 and with its metric, and stays ready', async () => {
    const server = await MongodServer.start();
    const service = await start({
      ...{ MONGODB_URI: server.uri, REQUEST_DEADLINE_MS: '500', MANAGEMENT_PORT: '0' },
    });
    const gauge = async (value: number) => {
      const line = new RegExp(`^plant_store_storage_reachable ${value}$`, 'm');
      while (!line.test(await (await fetch(`${service.management}/metrics`)).text()));
    };
    await service.becomesReady();
    await gauge(1);
    await server.kill();
    await gauge(0);
    const response = await service.create(1, 'in the outage');
    expect(await response.json()).to.deep.include({ error: 5030 });
    expect(response.headers.get('Retry-After')).to.match(/^\d+$/);
    expect((await fetch(`${service.address}/readyz`)).status).to.equal(200);
    await server.restart();
    await gauge(1);
    await server.stop();
  });

  it('is not ready when creates are refused, although its database is reachable', async () => {
    const server = await SecureMongod.start();
    const { host, password, tls } = server;
    const MONGODB_URI = `mongodb://guest:${password}@${host}/?authSource=admin&${tls}`;
    const service = await start({ MONGODB_URI });
    await service.printed(/plants are refused/);
    expect((await fetch(`${service.address}/readyz`)).status).to.equal(503);
    expect((await service.create(1, 'refused')).status).to.equal(503);
    await server.stop();
  });

  it('reports with `plant-store check` whether its database is reachable', async () => {
    const set = await sharedReplicaSet();
    const present = run(['check'], { MONGODB_URI: uriOf(set), ACCESS_TOKEN_SHA256 });
    expect(await present.ended).to.equal(0);
    expect(present.stdout()).to.match(/^storage \(mongodb\): ready$/m);
    const absent = run(['check'], { MONGODB_URI: 'mongodb://127.0.0.1:1', ACCESS_TOKEN_SHA256 });
    expect(await absent.ended).to.equal(1);
    expect(absent.stdout()).to.match(/^storage \(mongodb\): not ready, .+$/m);
  });

  it('prints with `plant-store check` the warnings of the start, and creates no collection', async () => {
    const MONGODB_URI = uriOf(await sharedReplicaSet());
    const env = { MONGODB_URI, ACCESS_TOKEN_SHA256, REQUEST_DEADLINE_MS: '500' };
    const check = run(['check'], env);
    expect(await check.ended).to.equal(0);
    expect(check.stderr()).to.match(/^plant-store: warning: REQUEST_DEADLINE_MS: /m);
    expect(check.stderr()).to.match(/^plant-store: warning: the collection does not exist yet: /m);
    expect(check.stdout()).to.match(/^checked by connecting: nothing was created or changed$/m);
    const client = await MongoClient.connect(MONGODB_URI);
    expect(await client.db().listCollections().toArray()).to.deep.equal([]);
    await client.close();
  });

  it('carries out every create, and stays ready, in a failover that is shorter than the deadline', async () => {
    const set = await ReplicaSet.start({ members: 3, electionTimeoutMs: 2000 });
    const service = await start({ MONGODB_URI: uriOf(set) });
    await service.becomesReady();
    const statuses: number[] = [];
    const readiness: number[] = [];
    let killed: Promise<void> | undefined;
    const loop = async (_: unknown, worker: number) => {
      for (let turn = 0; turn < 30; turn += 1) {
        statuses.push((await service.create(worker * 1000 + turn, 'through')).status);
        if (statuses.length === 100) killed = (await set.primary()).kill();
      }
    };
    let over = false;
    const probe = async () => {
      while (!over) readiness.push((await fetch(`${service.address}/readyz`)).status);
    };
    const probing = probe();
    await Promise.all(Array.from({ length: 10 }, loop)).finally(() => {
      over = true;
    });
    await Promise.all([killed, probing]);
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(new Set(readiness)).to.deep.equal(new Set([200]));
    await set.stop();
  });
});
