import { readFileSync } from 'node:fs';
import { CertificateFolder } from '@plant-store/certificates';
import { needsMongod, ReplicaSet } from '@plant-store/mongod';
import { createFailures } from '@plant-store/plant-json';
import { freePort } from '@plant-store/programs';
import { ACCESS_TOKEN_SHA256, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import {
  type Client,
  curl,
  http1Client,
  http2Client,
  type Parts,
  type Reply,
} from './proxies/clients.js';
import { CrashingInstances, type Ending } from './proxies/crashing-instances.js';
import { Instance } from './proxies/instance.js';
import { freshPlant, Load } from './proxies/load.js';
import { needsProxy } from './proxies/needs-proxy.js';
import {
  asksReadyz,
  findProxy,
  type ProxyName,
  proxyNames,
  RunningProxy,
} from './proxies/running-proxy.js';
import { until } from './proxies/until.js';

/** The delay that haproxy.cfg and Caddyfile require. */
const SHUTDOWN_DELAY_MS = '3000';

/**
 * The size of a large body. Of a body that is refused, Go's HTTP server discards 256 KiB. With more, it closes the
 * connection after half a second, so that a client on a busy machine may not get the response: see docs/proxies.md.
 */
const LARGE: Readonly<Record<ProxyName, number>> = {
  nginx: 3_000_000,
  haproxy: 3_000_000,
  caddy: 200_000,
};

const { OUTCOME_UNKNOWN } = createFailures('the body');

describe('The proxies of deploy/proxies', function () {
  this.timeout(180_000);

  let folder: CertificateFolder;
  let certificate: string;
  let ca: string;
  let set: ReplicaSet;
  let instances: readonly [Instance, Instance];
  let proxies: ReadonlyMap<ProxyName, RunningProxy>;
  const running: RunningProxy[] = [];

  before(async function () {
    await needsMongod.call(this);
    folder = await CertificateFolder.create();
    certificate = await folder.issue('server.pem', {
      subject: 'CN=plants',
      addresses: ['127.0.0.1'],
    });
    ca = readFileSync(folder.authority, 'utf8');
    set = await ReplicaSet.start({ members: 3 });
    instances = await startInstances({ SHUTDOWN_DELAY_MS });
    proxies = await startProxies(instances);
  });

  after(async () => {
    for (const proxy of running) await proxy.stop();
    endAll();
    await set?.stop();
  });

  function startInstances(settings: Record<string, string>): Promise<[Instance, Instance]> {
    const all = { MONGODB_URI: set.uri, ...settings };
    return Promise.all([Instance.start(all), Instance.start(all)]);
  }

  async function start(
    name: ProxyName,
    hosts: readonly [string, string],
    checksHealth = true,
  ): Promise<RunningProxy> {
    const proxy = await RunningProxy.start(name, hosts, certificate, checksHealth);
    running.push(proxy);
    return proxy;
  }

  /** Starts every proxy that is installed. */
  async function startProxies([one, two]: readonly [Instance, Instance]) {
    const started = new Map<ProxyName, RunningProxy>();
    for (const name of proxyNames) {
      if (findProxy(name) !== undefined) started.set(name, await start(name, [one.host, two.host]));
    }
    return started;
  }

  async function clientsOf({ origin }: RunningProxy): Promise<Client[]> {
    return [http1Client({ origin, ca }), await http2Client({ origin, ca })];
  }

  /** Sends the request with each protocol. */
  async function replies(proxy: RunningProxy, parts: () => Parts): Promise<Reply[]> {
    const clients = await clientsOf(proxy);
    const found = await Promise.all(clients.map((client) => client.create(parts())));
    for (const client of clients) client.close();
    return found;
  }

  function expectFailure({ status, headers, body }: Reply, error: number, expected: number): void {
    expect(status, body).to.equal(expected);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(JSON.parse(body)).to.have.all.keys('error', 'message').and.to.include({ error });
  }

  for (const name of proxyNames) {
    describe(name, () => {
      let proxy: RunningProxy;
      before(function () {
        needsProxy(this, name);
        const started = proxies.get(name);
        if (started === undefined) throw new Error(`${name} was not started`);
        proxy = started;
      });

      it('passes on creates of HTTP/1.1 and HTTP/2, with their request ids', async () => {
        const headers = { 'x-request-id': 'from-a-client' };
        for (const reply of await replies(proxy, () => ({ headers, body: freshPlant() }))) {
          expect([reply.status, reply.body]).to.deep.equal([200, '{"name":"Ficus"}']);
          expect(reply.headers['x-request-id']).to.equal('from-a-client');
        }
        for (const reply of await replies(proxy, () => ({ body: freshPlant() }))) {
          expect(reply.status).to.equal(200);
          expect(reply.headers['x-request-id']).to.match(/^[\w-]{12}-\d+$/);
        }
      });

      it('passes on a body without a length', async () => {
        for (const { status } of await replies(proxy, () => ({ body: [...freshPlant()] }))) {
          expect(status).to.equal(200);
        }
      });

      for (const size of [16_385, LARGE[name]]) {
        it(`passes on a body of ${size} bytes, which the service refuses`, async () => {
          const whole = () => ({ body: 'x'.repeat(size) });
          const inParts = () => ({
            body: Array.from({ length: 10 }, () => 'x'.repeat(size / 10 + 1)),
          });
          for (const reply of await replies(proxy, whole)) expectFailure(reply, 4003, 400);
          for (const reply of await replies(proxy, inParts)) expectFailure(reply, 4003, 400);
        });
      }

      it('passes on a token of 9 kB and headers above 16 KiB, which the service refuses', async () => {
        for (const [size, error, status] of [
          [9000, 4011, 401],
          [17_000, 4310, 431],
        ] as const) {
          const headers = { authorization: `Bearer ${'t'.repeat(size)}` };
          for (const reply of await replies(proxy, () => ({ headers, body: freshPlant() }))) {
            expectFailure(reply, error, status);
          }
        }
      });

      it('sends 100 Continue to a client that waits for it', async () => {
        const client = http1Client({ origin: proxy.origin, ca });
        const reply = await client.create({
          headers: { expect: '100-continue' },
          body: freshPlant(),
        });
        client.close();
        expect([reply.status, reply.continued]).to.deep.equal([200, true]);
      });

      for (const version of ['1.1', '2']) {
        it(`serves curl with HTTP/${version}, which waits for 100 Continue only for a time`, async () => {
          const target = { origin: proxy.origin, ca: folder.authority };
          const waits = ['-H', 'Expect: 100-continue', '--expect100-timeout', '0.1'];
          const out = await curl(target, `--http${version}`, ...waits, '-d', freshPlant());
          expect(out).to.equal(`{"name":"Ficus"}\n${version} 200`);
        });
      }

      it('sends a create to the other instance when one refuses the connection, also before a health check', async () => {
        const refusing = `127.0.0.1:${await freePort()}`;
        const other = await start(name, [refusing, instances[0].host], false);
        for (let count = 0; count < 5; count += 1) {
          for (const parts of [
            () => ({ body: freshPlant() }),
            () => ({ body: [...freshPlant()] }),
          ]) {
            for (const { status } of await replies(other, parts)) expect(status).to.equal(200);
          }
        }
      });

      if (asksReadyz(name)) {
        it('sends nothing to an instance that is not ready while the other one is ready', async () => {
          const nowhere = 'mongodb://127.0.0.1:1/?replicaSet=none';
          const lost = await serve({ ACCESS_TOKEN_SHA256, MONGODB_URI: nowhere });
          const other = await start(name, [`127.0.0.1:${lost.port}`, instances[0].host]);
          await until(() => other.foundNotReady?.size === 1);
          for (let count = 0; count < 4; count += 1) {
            const found = await replies(other, () => ({ body: freshPlant() }));
            expect(found.map(({ status }) => status)).to.deep.equal([200, 200]);
          }
        });
      }

      it('never retries a create that was sent, and responds that its outcome is unknown', async () => {
        const crashing = await CrashingInstances.start();
        const other = await start(name, crashing.hosts);
        for (const ending of ['closed', 'reset'] satisfies Ending[]) {
          for (const respondsFirst of [false, true]) {
            Object.assign(crashing, { ending, respondsFirst });
            await expectSentOnce(other, crashing);
          }
        }
        crashing.stop();
      });
    });
  }

  /** Sends six creates with each protocol, also on used connections, and checks that each was sent to one instance once. */
  async function expectSentOnce(proxy: RunningProxy, crashing: CrashingInstances): Promise<void> {
    const sent: string[] = [];
    crashing.received.length = 0;
    let unknown = 0;
    for (const client of await clientsOf(proxy)) {
      for (let count = 0; count < 6; count += 1) {
        const body = freshPlant();
        sent.push(body);
        const reply = await client.create({ body });
        if (reply.status === 200) continue;
        expectFailure(reply, 5031, 503);
        expect(JSON.parse(reply.body)).to.deep.equal(OUTCOME_UNKNOWN);
        expect(reply.headers['retry-after']).to.equal('1');
        unknown += 1;
      }
      client.close();
    }
    expect(crashing.received).to.deep.equal(sent);
    expect(unknown).to.be.above(crashing.respondsFirst ? 1 : 11);
  }

  /** Puts load on every proxy during `work`. Resolves with the failures of each. */
  async function failuresDuring(work: () => Promise<void>) {
    const loads = [...proxies].map(
      ([name, { origin }]) => [name, new Load({ origin, ca })] as const,
    );
    const more = () => Promise.all(loads.map(([, load]) => load.more(20)));
    await more();
    await work();
    await more();
    const failures = new Map<ProxyName, readonly string[]>();
    for (const [name, load] of loads) failures.set(name, await load.stop());
    return failures;
  }

  for (const [title, work] of [
    [
      'restart one after the other',
      async () => {
        for (const instance of instances) await instance.restart();
      },
    ],
    [
      'lose the primary of their database',
      async () => {
        await (await set.primary()).kill();
        await set.primary();
      },
    ],
  ] as const) {
    describe(`No client sees an error while both instances ${title}`, () => {
      let failures: ReadonlyMap<ProxyName, readonly string[]>;
      before(async () => {
        failures = await failuresDuring(work);
      });
      for (const name of proxyNames) {
        it(`through ${name}`, function () {
          needsProxy(this, name);
          expect(failures.get(name)).to.deep.equal([]);
        });
      }
    });
  }

  describe('In an outage of the database, clients get the 5030 of the service', () => {
    let behind: ReadonlyMap<ProxyName, RunningProxy>;
    before(async () => {
      const pair = await startInstances({ REQUEST_DEADLINE_MS: '500' });
      behind = await startProxies(pair);
      for (const member of set.members) await member.kill();
    });
    for (const name of proxyNames) {
      it(`through ${name}`, async function () {
        needsProxy(this, name);
        const proxy = behind.get(name);
        if (proxy === undefined) throw new Error(`${name} was not started`);
        await expectOutage(proxy);
      });
    }
  });

  async function expectOutage(proxy: RunningProxy): Promise<void> {
    for (const reply of await replies(proxy, () => ({ body: freshPlant() }))) {
      expectFailure(reply, 5030, 503);
      expect(reply.headers['retry-after']).to.equal('1');
    }
  }
});
