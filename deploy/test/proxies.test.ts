import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { until as untilTrue } from '@plant-store/contract-suite';
import { failuresOfCreate } from '@plant-store/plant-json';
import { freePort, listen } from '@plant-store/test-servers/loopback';
import { needsMongod, ReplicaSet } from '@plant-store/test-servers/mongod';
import { skipWithout } from '@plant-store/test-servers/programs';
import {
  ACCESS_TOKEN_SHA256,
  ownProcesses,
  type Service,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import {
  http1Client,
  http2Client,
  type Parts,
  type Reply,
  type Target,
} from './support/proxies/clients.js';
import {
  findProxy,
  kinds,
  type ProxyName,
  proxyNames,
  startProxy,
  stopProxies,
} from './support/proxies/running-proxy.js';

const { endAll, serve } = ownProcesses();

/** The delay that all but nginx.conf require. */
const SHUTDOWN_DELAY_MS = '3000';

/** The sizes of bodies that are refused. With more than 256 KiB, a client of Caddy may get no response: see Caddyfile. */
const LARGE = [16_385, 200_000];

/** Addresses on the loopback interface for another client and for slow clients. */
const [ANOTHER, SLOW] = ['127.0.0.2', '127.0.0.3'] as const;

let lastId = 0;

/** Returns the JSON text of a plant that no other request of this process creates. */
function freshPlant(): string {
  lastId += 1;
  return `{"id":${lastId},"name":"Ficus"}`;
}

const { OUTCOME_UNKNOWN } = failuresOfCreate('the body');

/** Resolves when the condition is true. Rejects after a minute. */
const until = (condition: () => Promise<boolean>) =>
  untilTrue(condition, () => `does not come true: ${condition}`, 60_000);

/** Starts an instance. Resolves when it is ready. */
async function startReady(settings: Record<string, string>): Promise<Service> {
  const service = await serve(settings);
  await until(async () => (await fetch(`${service.address}/readyz`)).ok);
  return service;
}

/** Starts a server that imitates an instance, until this process ends. Resolves with its host and port. */
async function imitate(listener: RequestListener): Promise<string> {
  return `127.0.0.1:${await listen(createServer(listener).unref())}`;
}

describe('The proxies of deploy/proxies', function () {
  this.timeout(180_000);

  let set: ReplicaSet;
  let settings: Record<string, string>;
  let instances: Service[];
  let hosts: [string, string];
  /** In front of both instances, each proxy that is installed. */
  const proxies = new Map<ProxyName, Target>();

  before(async function () {
    await needsMongod.call(this);
    set = await ReplicaSet.start({ members: 1 });
    const TRUSTED_PROXIES = '127.0.0.1';
    settings = { ACCESS_TOKEN_SHA256, MONGODB_URI: set.uri, SHUTDOWN_DELAY_MS, TRUSTED_PROXIES };
    const [one, two] = await Promise.all([startReady(settings), startReady(settings)]);
    instances = [one, two];
    hosts = [new URL(one.address).host, new URL(two.address).host];
    for (const name of proxyNames) {
      if (findProxy(name) !== undefined) proxies.set(name, await startProxy(name, hosts));
    }
  });

  after(async () => {
    await stopProxies();
    endAll();
    await set?.stop();
  });

  /** Sends the request with each protocol. */
  async function replies(proxy: Target, parts: () => Parts): Promise<Reply[]> {
    const clients = [http1Client(proxy), await http2Client(proxy)];
    const found = await Promise.all(clients.map((client) => client.send(parts())));
    for (const client of clients) client.close();
    return found;
  }

  function expectFailure({ status, headers, body }: Reply, error: number, expected: number): void {
    expect(status, body).to.equal(expected);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(JSON.parse(body)).to.have.all.keys('error', 'message').and.to.include({ error });
  }

  /** Checks a response of the proxy itself, which has the format of the service. */
  function expectOwn(reply: Reply, error: 5031 | 5032): void {
    expectFailure(reply, error, 503);
    expect(reply.headers['retry-after']).to.equal('1');
    if (error === 5031) expect(JSON.parse(reply.body)).to.deep.equal(OUTCOME_UNKNOWN);
  }

  for (const name of proxyNames) {
    describe(name, () => {
      let proxy: Target;
      before(function () {
        proxy =
          proxies.get(name) ??
          skipWithout(this, `no ${name}: install it, or run .ci/programs ${name}`);
      });

      it('passes on creates over HTTP/1.1 and HTTP/2 with their request ids', async () => {
        const headers = { 'x-request-id': 'from-a-client' };
        for (const reply of await replies(proxy, () => ({ headers, body: freshPlant() }))) {
          expect([reply.status, reply.body]).to.deep.equal([200, '{"name":"Ficus"}']);
          expect(reply.headers['x-request-id']).to.equal('from-a-client');
        }
        for (const reply of await replies(proxy, () => ({ body: freshPlant() }))) {
          expect(reply.status).to.equal(200);
          expect(reply.headers['x-request-id']).to.match(/^[\da-f-]{32,36}$/);
        }
      });

      it("lets the service log a refused client's address and request id", async () => {
        const client = http1Client({ ...proxy, localAddress: ANOTHER });
        const forged = { authorization: 'Bearer unknown', 'x-forwarded-for': '192.0.2.7' };
        const { status, headers } = await client.send({ headers: forged, body: freshPlant() });
        client.close();
        expect(status).to.equal(401);
        const id = `"requestId":"${headers['x-request-id']}"`;
        const log = () => instances.flatMap((it) => it.stdout().split('\n'));
        await until(async () => log().some((it) => it.includes(id)));
        const [line = ''] = log().filter((it) => it.includes(id));
        expect(JSON.parse(line)).to.include({ refusal: 'the token is unknown', address: ANOTHER });
      });

      it("limits each client's requests before they reach the service", async () => {
        const other = await startProxy(name, hosts);
        const busy = http1Client(other);
        const wrong = { authorization: 'Bearer unknown' };
        const begun = performance.now();
        const found = await Promise.all(
          Array.from({ length: 1000 }, () => busy.send({ headers: wrong, body: '{}' })),
        );
        const refused = found.filter(({ status }) => status !== 401);
        const seconds = (performance.now() - begun) / 1000;
        // At most 300 together, then 100 a second.
        expect(found.length - refused.length).to.be.within(200, 300 + 100 * (seconds + 1));
        for (const reply of refused) expectOwn(reply, 5032);
        const another = http1Client({ ...other, localAddress: ANOTHER });
        expect((await another.send({ body: freshPlant() })).status).to.equal(200);
        for (const client of [busy, another]) client.close();
      });

      it('serves new clients while 700 others hold half-sent requests', async () => {
        const other = await startProxy(name, hosts);
        const { ca, origin } = other;
        const port = Number(new URL(origin).port);
        const slow: Socket[] = [];
        // One after the other: nginx closes connections whose first bytes it has not read, in favour of others.
        for (let count = 0; count < 700; count += 1) {
          const socket = connect({ port, host: '127.0.0.1', localAddress: SLOW });
          const secure = connectTls({ socket, ca, host: '127.0.0.1' }).on('error', () => undefined);
          await once(secure, 'secureConnect').catch(() => undefined);
          secure.write('POST /plants HTTP/1.1\r\nHost: a\r\nX-');
          slow.push(secure);
        }
        await until(async () => {
          const client = http1Client(other, false);
          const reply = await client.send({ body: freshPlant() }).catch(() => undefined);
          return reply?.status === 200;
        });
        for (const socket of slow) socket.destroy();
      }).timeout(25_000);

      it('leaves it to the service to refuse large bodies, tokens and headers', async () => {
        for (const size of LARGE) {
          const part = 'x'.repeat(size / 10 + 1);
          for (const body of ['x'.repeat(size), Array<string>(10).fill(part)]) {
            for (const reply of await replies(proxy, () => ({ body }))) {
              expectFailure(reply, 4003, 400);
            }
          }
        }
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

      it('sends a create to the other instance when one refuses the connection', async () => {
        const refusing = `127.0.0.1:${await freePort()}`;
        const other = await startProxy(name, [refusing, hosts[0]], 'without health check');
        for (let count = 0; count < 10; count += 1) {
          const parts = () => ({ body: count % 2 === 0 ? freshPlant() : [...freshPlant()] });
          for (const { status } of await replies(other, parts)) expect(status).to.equal(200);
        }
      });

      if (kinds[name].healthCheck !== undefined) {
        it('sends nothing to an instance that is not ready while another is ready', async () => {
          const lost = await imitate((_, response) => response.writeHead(503).end());
          const other = await startProxy(name, [lost, hosts[0]]);
          await until(async () => {
            const all = Array.from({ length: 20 }, () =>
              replies(other, () => ({ body: freshPlant() })),
            );
            return (await Promise.all(all)).flat().every(({ status }) => status === 200);
          });
        });
      }

      it('never retries a create that it has sent, and reports its outcome as unknown', async () => {
        for (const isFirst of [true, false]) {
          const received: string[] = [];
          const used = new WeakSet<Socket>();
          /** Imitates an instance that crashes after a request: the first one of a connection, or the second one. */
          const crash = (end: (socket: Socket) => void) =>
            imitate(async (request, response) => {
              if (request.url === '/readyz') return void response.end('{}');
              received.push(await text(request));
              const { socket } = request;
              if (isFirst || used.has(socket)) return end(socket);
              used.add(socket);
              response.end('{}');
            });
          const closes = await crash((socket) => socket.destroy());
          const resets = await crash((socket) => socket.resetAndDestroy());
          const other = await startProxy(name, [closes, resets]);
          const sent: string[] = [];
          let unknown = 0;
          for (const client of [http1Client(other), await http2Client(other)]) {
            for (let count = 0; count < 6; count += 1) {
              const body = freshPlant();
              sent.push(body);
              const reply = await client.send({ body });
              if (reply.status === 200) continue;
              expectOwn(reply, 5031);
              unknown += 1;
            }
            client.close();
          }
          expect(received).to.deep.equal(sent);
          expect(unknown).to.be.above(isFirst ? 11 : 1);
        }
      });
    });
  }

  describe('all together', () => {
    it('return no error to any client while the two instances restart in turn', async () => {
      let isRestarted = false;
      let created = 0;
      const failures: string[] = [];
      const loads = [...proxies.values()].flatMap((proxy) => [
        http1Client(proxy),
        http1Client(proxy, false),
        http2Client(proxy),
      ]);
      const ended = loads.map(async (load) => {
        const client = await load;
        for (; !isRestarted; await pause(100)) {
          const { status, body } = await client.send({ body: freshPlant() });
          if (status === 200) created += 1;
          else failures.push(body);
        }
        client.close();
      });
      const more = (enough = created + 60) => until(async () => created >= enough);
      try {
        await more();
        for (const [at, { port, stop }] of instances.entries()) {
          expect(await stop()).to.equal(0);
          instances[at] = await startReady({ ...settings, PORT: `${port}` });
        }
        await more();
      } finally {
        isRestarted = true;
      }
      await Promise.all(ended);
      expect(failures).to.deep.equal([]);
    });
  });
});
