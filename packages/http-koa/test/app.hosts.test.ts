import { once } from 'node:events';
import { request, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { configure } from '@codegenie/serverless-express';
import {
  createApp,
  createServer,
  type EndedExchange,
  plantStoreRoutes,
} from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';
import compress from 'koa-compress';
import mount from 'koa-mount';
import passport from 'koa-passport';
import session from 'koa-session';
import inject from 'light-my-request';
import { Strategy } from 'passport-http-bearer';
import serverless from 'serverless-http';
import supertest from 'supertest';
import { create, Embedding, errorOf, MONSTERA } from './support/embedding.js';
import { rawCreate, TOKEN } from './support/listening-app.js';

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Sends a create. */
type Send = (body: string, headers?: Record<string, string>) => Promise<Received>;

/** The event of an API Gateway (HTTP API, version 2.0) and its answer. */
interface LambdaResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}
type Lambda = (event: object, context: object) => Promise<LambdaResponse>;

function throughLambda(handler: unknown): Send {
  return async (body, headers = HEADERS) => {
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath: '/plants',
      rawQueryString: '',
      headers: { host: 'a.example', ...headers, 'content-length': `${Buffer.byteLength(body)}` },
      requestContext: {
        http: { method: 'POST', path: '/plants', sourceIp: '127.0.0.1' },
        stage: '$default',
      },
      body,
      isBase64Encoded: false,
    };
    const { statusCode, ...response } = await (handler as Lambda)(event, {});
    return { status: statusCode, ...response };
  };
}

/** Ways in which requests reach an application without a server of this package. */
const hosts: Readonly<Record<string, (app: Koa) => Send>> = {
  'serverless-http': (app) => throughLambda(serverless(app)),
  '@codegenie/serverless-express': (app) => throughLambda(configure({ app: app as never })),
  'light-my-request':
    (app) =>
    async (payload, headers = HEADERS) => {
      const dispatch = app.callback() as Parameters<typeof inject>[0];
      const it = await inject(dispatch, { method: 'POST', url: '/plants', headers, payload });
      return { status: it.statusCode, headers: it.headers, body: it.payload };
    },
  supertest:
    (app) =>
    async (body, headers = HEADERS) => {
      const it = await supertest(app.callback()).post('/plants').set(headers).send(body);
      return { status: it.status, headers: it.headers, body: it.text };
    },
};

describe('An application that another host serves', () => {
  let embedding: Embedding;
  const servers: Server[] = [];
  beforeEach(() => {
    embedding = new Embedding();
  });
  afterEach(async () => {
    await embedding.close();
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

  /** Checks exact ids, the form of a failure, and that the body is read as it was sent. */
  async function expectPlantStore(send: Send): Promise<void> {
    const created = await send(MONSTERA);
    expect([created.status, created.body]).to.deep.equal([200, '{"name":"Monstera"}']);
    expect([...embedding.plants.keys()]).to.deep.equal([9007199254740993n]);
    for (const [response, status, error] of [
      [await send(MONSTERA), 400, 4006],
      [await send('{'), 400, 4004],
      [await send(''), 400, 4001],
      [await send(MONSTERA.padEnd(16_385)), 400, 4003],
      [await send(MONSTERA, { ...HEADERS, 'content-type': 'text/plain' }), 400, 4002],
      [await send(MONSTERA, { 'content-type': 'application/json' }), 401, 4010],
    ] as const) {
      expect([response.status, JSON.parse(response.body).error]).to.deep.equal([status, error]);
      expect(response.headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(response.headers['x-request-id']).to.match(/^[\w-]{12}-\d+$/);
      expect(response.headers).not.to.have.property('0');
    }
    expect(embedding.failed).to.deep.equal([]);
  }

  for (const [name, host] of Object.entries(hosts)) {
    it(`responds as on its own server, also as routes of a host: ${name}`, async () => {
      await expectPlantStore(host(createApp(embedding.dependencies)));
      embedding = new Embedding();
      await expectPlantStore(host(new Koa().use(plantStoreRoutes(embedding.dependencies))));
    });
  }

  it('listens on a Unix socket', async () => {
    const server = createServer(createApp(embedding.dependencies));
    const socketPath = join(tmpdir(), `plant-store-${process.pid}.sock`);
    servers.push(server.listen(socketPath));
    await once(server, 'listening');
    await expectPlantStore(async (body, headers = HEADERS) => {
      const path = '/plants';
      const sent = request({ socketPath, path, method: 'POST', headers, agent: false }).end(body);
      const [response] = await once(sent, 'response');
      return { status: response.statusCode, headers: response.headers, body: await text(response) };
    });
  });

  for (const own of [true, false]) {
    it(`keeps the headers of its host, mounted under koa-session and koa-compress, on the server of ${own ? 'this package' : 'Node.js'}`, async () => {
      const app = new Koa();
      app.keys = ['a key for tests'];
      app.use(session(app)).use(compress({ threshold: 1 }));
      app.use((ctx, next) => {
        ctx.set('X-Host', 'mine');
        ctx.session = { user: 'Ada' };
        return next();
      });
      app.use(mount('/nursery', createApp(embedding.dependencies)));
      const url = `${await embedding.serve(app, own)}/nursery/plants`;
      for (const [body, status] of [
        [MONSTERA, 200],
        ['{', 400],
      ] as const) {
        const response = await create(url, body);
        expect(response.status).to.equal(status);
        expect(response.headers.get('X-Host')).to.equal('mine');
        expect(response.headers.get('Set-Cookie')).to.be.a('string');
        expect(response.headers.get('Content-Encoding')).to.be.a('string');
        await response.text();
      }
      expect([...embedding.plants.keys()]).to.deep.equal([9007199254740993n]);
    });
  }

  it('works after koa-passport', async () => {
    passport.use(
      new Strategy((token, done) => done(null, token === TOKEN ? { name: 'Ada' } : false)),
    );
    const app = createApp(embedding.dependencies, {
      before: [passport.initialize(), passport.authenticate('bearer', { session: false })],
    });
    const url = `${await embedding.serve(app)}/plants`;
    expect((await create(url)).status).to.equal(200);
    expect((await create(url, '{', 'unknown')).status).to.equal(401);
    expect([...embedding.plants.keys()]).to.deep.equal([9007199254740993n]);
  });

  it('emits the errors of the service on the application of its host, and no failures of clients', async () => {
    const bug = new TypeError('a bug');
    const ready = () => Promise.reject(bug);
    const routes = plantStoreRoutes({ ...embedding.dependencies, ready });
    const emitted: [unknown, string][] = [];
    for (const app of [
      new Koa().use(routes),
      new Koa().use(mount('/', createApp({ ...embedding.dependencies, ready }))),
      createApp({ ...embedding.dependencies, ready }),
    ]) {
      app.on('error', (error, ctx) => emitted.push([error, ctx.path]));
      const url = await embedding.serve(app, false);
      expect(await errorOf(await fetch(`${url}/readyz`))).to.equal(5000);
      expect((await create(`${url}/plants`, '{')).status).to.equal(400);
      expect(emitted.splice(0)).to.deep.equal([[bug, '/readyz']]);
    }
    expect(embedding.failed).to.have.length(3);
  });

  it('counts a body that ends early as a malformed request of a client that has gone', async () => {
    let leave = (): void => undefined;
    const ended = new Promise<EndedExchange>((resolve) => {
      const observer = { begun: () => leave(), ended: resolve, failed() {} };
      const app = createApp({ ...embedding.dependencies, observer });
      app.silent = true;
      void embedding.serve(app, false).then((url) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1');
        leave = () => socket.destroy();
        socket.write(rawCreate('{"id":1,"name":"Monstera"}').slice(0, -1));
      });
    });
    expect(await ended).to.include({ status: 499, error: 4000 });
  });
});
