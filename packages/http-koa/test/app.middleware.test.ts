import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import cors from '@koa/cors';
import { CreatePlant, type NewPlant } from '@plant-store/domain';
import {
  type AppDependencies,
  createApp,
  createServer,
  type Exchange,
  type OwnFailure,
  plantStoreRoutes,
} from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import helmet from 'koa-helmet';
import mount from 'koa-mount';
import { TOKEN } from './listening-app.js';

const ORIGIN = 'https://nursery.example';

const responseTime: Middleware = async (ctx, next) => {
  await next();
  ctx.set('X-Response-Status', `${ctx.status}`);
};

describe('Third-party middleware', () => {
  const plants = new Map<bigint, NewPlant>();
  const ended: Exchange[] = [];
  const failed: OwnFailure[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  const dependencies: AppDependencies = {
    createPlant: new CreatePlant(new MemoryPlantRepository(plants)),
    tokenVerifier: new StaticTokenVerifier([{ sha256: tokenDigest(TOKEN), label: 'test' }]),
    ready: async () => {},
    observer: {
      begun() {},
      ended: (exchange) => ended.push(exchange),
      failed: (failure) => failed.push(failure),
    },
  };

  beforeEach(() => {
    plants.clear();
    ended.length = 0;
    failed.length = 0;
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** Serves an application with the server of this package, or with that of Node.js. */
  async function serve(app: Koa, own = true): Promise<string> {
    const server = own ? createServer(app) : createHttpServer(app.callback());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  function create(url: string, body = '{"id":9007199254740993,"name":"Monstera"}', token = TOKEN) {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Origin: ORIGIN,
    };
    return fetch(url, { method: 'POST', headers, body });
  }

  async function errorOf(response: Response): Promise<number> {
    expect(response.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
    const { error, message, ...rest } = (await response.json()) as Record<string, unknown>;
    expect(message).to.be.a('string');
    expect(rest).to.deep.equal({});
    return Number(error);
  }

  /** Checks the routes of an application. */
  async function expectPlantStore(url: string): Promise<void> {
    const created = await create(`${url}/plants`);
    expect(created.status).to.equal(200);
    expect(await created.text()).to.equal('{"name":"Monstera"}');
    expect(created.headers.get('Content-Length')).to.equal('19');
    expect([...plants.keys()]).to.deep.equal([9007199254740993n]);
    for (const [response, status, error] of [
      [await create(`${url}/plants`), 400, 4006],
      [await create(`${url}/plants`, '{'), 400, 4004],
      [await create(`${url}/plants`, '{}', 'unknown'), 401, 4011],
      [await fetch(`${url}/plants`), 405, 4050],
    ] as const) {
      expect(response.status).to.equal(status);
      expect(await errorOf(response)).to.equal(error);
      expect(response.headers.get('X-Request-Id')).to.match(/^[\w-]{12}-\d+$/);
      expect(response.headers.get('Cache-Control')).to.equal('no-store');
    }
    expect(ended.map(({ status }) => status)).to.deep.equal([200, 400, 400, 401, 405]);
    expect(failed).to.deep.equal([]);
  }

  async function expectHeaders(url: string): Promise<void> {
    for (const response of [await create(url, '{"id":7,"name":""}'), await create(url, '{')]) {
      expect(response.headers.get('X-Response-Status')).to.equal(`${response.status}`);
      expect(response.headers.get('Access-Control-Allow-Origin')).to.equal(ORIGIN);
      expect(response.headers.get('X-Content-Type-Options')).to.equal('nosniff');
      await response.text();
    }
  }

  describe('in front of the routes (`before`)', () => {
    const before = [responseTime, cors({ origin: ORIGIN }), helmet()];

    it('sees every response, and changes only the headers that it sets', async () => {
      const url = await serve(createApp(dependencies, { before }));
      await expectPlantStore(url);
      await expectHeaders(`${url}/plants`);
      const missing = await fetch(`${url}/elsewhere`);
      expect(await errorOf(missing)).to.equal(4040);
      expect(missing.headers.get('X-Response-Status')).to.equal('404');
    });

    it('may respond itself, for example to a CORS preflight', async () => {
      const url = await serve(createApp(dependencies, { before }));
      const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'POST' };
      const preflight = await fetch(`${url}/plants`, { method: 'OPTIONS', headers });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers.get('Access-Control-Allow-Methods')).to.include('POST');
      expect(preflight.headers.get('X-Request-Id')).to.match(/^[\w-]{12}-\d+$/);
      expect(ended.map(({ status }) => status)).to.deep.equal([204]);
    });

    it('may refuse a request with `ctx.throw`: the error number is ten times the status', async () => {
      const refuse: Middleware = (ctx) => ctx.throw(429, 'slow down');
      const response = await create(
        `${await serve(createApp(dependencies, { before: [refuse] }))}/plants`,
      );
      expect(response.status).to.equal(429);
      expect(await response.json()).to.deep.equal({ error: 4290, message: 'slow down' });
      expect([plants.size, failed.length]).to.deep.equal([0, 0]);
    });

    it('that throws an unexpected error causes a 500, which is reported with its cause', async () => {
      const bug = new TypeError('secret');
      const throwing: Middleware = () => Promise.reject(bug);
      const url = await serve(createApp(dependencies, { before: [throwing] }));
      const response = await create(`${url}/plants`);
      expect(response.status).to.equal(500);
      expect(await errorOf(response)).to.equal(5000);
      expect(failed.map(({ cause }) => cause)).to.deep.equal([bug]);
    });

    it('cannot turn a stored plant into a failure', async () => {
      const bug = new TypeError('after the fact');
      const throwing: Middleware = async (_, next) => {
        await next();
        throw bug;
      };
      const url = await serve(createApp(dependencies, { before: [throwing] }));
      expect((await create(`${url}/plants`)).status).to.equal(200);
      expect(failed.map(({ cause }) => cause)).to.deep.equal([bug]);
    });

    it('does not see requests that are not valid HTTP', async () => {
      let seen = 0;
      const count: Middleware = (_, next) => {
        seen += 1;
        return next();
      };
      const url = await serve(createApp(dependencies, { before: [count] }));
      const { port } = new URL(url);
      const response = await rawResponse(Number(port), 'GET /livez HTTP/1.1\r\n\r\n');
      expect(response).to.include('"error":4000');
      expect(seen).to.equal(0);
    });
  });

  for (const own of [true, false]) {
    describe(`around the routes, in an application on the server of ${own ? 'this package' : 'Node.js'}`, () => {
      it('handles its own paths, and the routes respond as in their own application', async () => {
        const app = new Koa()
          .use(responseTime)
          .use(cors({ origin: ORIGIN }))
          .use(helmet())
          .use(plantStoreRoutes(dependencies))
          .use((ctx) => {
            ctx.body = `mine: ${ctx.path}`;
          });
        const url = await serve(app, own);
        await expectPlantStore(url);
        await expectHeaders(`${url}/plants`);
        for (const path of ['/', '/plants/', '/Plants', '/elsewhere']) {
          expect(await (await fetch(url + path)).text()).to.equal(`mine: ${path}`);
        }
      });

      it('can mount the routes below a path', async () => {
        const app = new Koa().use(mount('/nursery', plantStoreRoutes(dependencies)));
        const url = await serve(app, own);
        await expectPlantStore(`${url}/nursery`);
        expect((await create(`${url}/plants`)).status).to.equal(404);
        expect((await fetch(`${url}/nursery/livez`)).status).to.equal(200);
      });
    });
  }
});

async function rawResponse(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(request);
  const [text] = await once(socket, 'data');
  socket.destroy();
  return text;
}
