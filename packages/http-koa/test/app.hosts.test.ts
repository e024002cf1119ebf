import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientRequest, createServer as createHttpServer, request } from 'node:http';
import { connect, createSecureServer } from 'node:http2';
import { request as requestOverTls } from 'node:https';
import { type AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { configure } from '@codegenie/serverless-express';
import cors from '@koa/cors';
import { createApp, plantStoreRoutes } from '@plant-store/http-koa';
import { createServer } from '@plant-store/http-server';
import { certificates } from '@plant-store/test-servers/certificates';
import { expect } from 'chai';
import Koa from 'koa';
import compress from 'koa-compress';
import mount from 'koa-mount';
import passport from 'koa-passport';
import inject from 'light-my-request';
import { Strategy } from 'passport-http-bearer';
import serverless from 'serverless-http';
import supertest from 'supertest';
import {
  AUTHORIZED,
  create,
  Embedding,
  errorOf,
  MONSTERA,
  rawCreate,
  type Send,
  TOKEN,
  timeLimit,
  useEmbedding,
  verifyingLate,
} from './support/embedding.js';

type Received = Awaited<ReturnType<Send>>;

/** Handles events of an API Gateway (HTTP API, version 2.0). */
type Lambda = (event: object, context: object) => Promise<Received & { statusCode: number }>;

function throughLambda(handler: unknown): Send {
  return async (body, headers) => {
    const length = { 'content-length': `${Buffer.byteLength(body)}` };
    const http = { method: 'POST', path: '/plants', sourceIp: '127.0.0.1' };
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath: '/plants',
      rawQueryString: '',
      headers: { host: 'a.example', ...headers, ...length },
      body,
      isBase64Encoded: false,
      requestContext: { http, stage: '$default' },
    };
    const response = await (handler as Lambda)(event, {});
    return { ...response, status: response.statusCode };
  };
}

const ca = readFileSync(certificates.authority, 'utf8');
const pem = readFileSync(certificates.server);

/** Sends each create to a new server for HTTP/2 and HTTP/1.1. */
function overTls(sendTo: (origin: string, ca: string) => Send): (app: Koa) => Send {
  return (app) => async (body, headers) => {
    const server = createSecureServer({ key: pem, cert: pem, allowHTTP1: true }, app.callback());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return sendTo(origin, ca)(body, headers).finally(() => server.close());
  };
}

async function responseTo(sent: ClientRequest): Promise<Received> {
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** How requests reach an application without a server of `createServer`. */
const hosts: Readonly<Record<string, (app: Koa) => Send>> = {
  'serverless-http': (app) => throughLambda(serverless(app)),
  '@codegenie/serverless-express': (app) => throughLambda(configure({ app: app as never })),
  'light-my-request': (app) => async (payload, headers) => {
    const dispatch = app.callback() as Parameters<typeof inject>[0];
    const it = await inject(dispatch, { method: 'POST', url: '/plants', headers, payload });
    return { status: it.statusCode, headers: it.headers, body: it.payload };
  },
  supertest: (app) => async (body, headers) => {
    const it = await supertest(app.callback()).post('/plants').set(headers).send(body);
    return { status: it.status, headers: it.headers, body: it.text };
  },
  'HTTP/2': overTls((origin, ca) => async (sent, headers) => {
    const session = connect(origin, { ca });
    const stream = session.request({ ':method': 'POST', ':path': '/plants', ...headers });
    const [{ ':status': status, ...fields }] = await once(stream.end(sent), 'response');
    const body = await text(stream);
    session.close();
    return { status, headers: fields, body };
  }),
  'HTTP/1.1 on a server for HTTP/2': overTls((origin, ca) => (sent, headers) => {
    const options = { method: 'POST', ca, headers, agent: false };
    return responseTo(requestOverTls(`${origin}/plants`, options).end(sent));
  }),
};

describe('A host', () => {
  const embedding = useEmbedding();

  for (const [name, host] of Object.entries(hosts)) {
    it(`serves the application, or the routes, like \`createServer\`: ${name}`, async () => {
      for (const appOf of [
        () => createApp(embedding.dependencies),
        () => new Koa().use(cors()).use(mount(createApp(embedding.dependencies))),
        () => new Koa().use(plantStoreRoutes(embedding.dependencies)),
      ]) {
        Object.assign(embedding, new Embedding());
        await embedding.expectPlantStore(host(appOf()));
      }
    });

    it(`stores nothing after its time limit has responded: ${name}`, async () => {
      const late = verifyingLate(embedding.dependencies);
      const app = new Koa().use(timeLimit(late.waiting)).use(plantStoreRoutes(late.dependencies));
      app.silent = true;
      expect((await host(app)(MONSTERA, AUTHORIZED)).status).to.equal(408);
      late.verify();
      await late.ended;
      expect([...embedding.plants]).to.deep.equal([]);
      expect(embedding.failed).to.deep.equal([]);
    });
  }

  it('stores nothing after its response, even where `headersSent` stays false (@fastify/express)', async () => {
    const late = verifyingLate(embedding.dependencies);
    const serve = createApp(late.dependencies).callback();
    const server = createHttpServer((request, response) => {
      Object.defineProperty(response, 'headersSent', { value: false });
      void late.waiting.then(() => response.writeHead(408).end());
      void serve(request, response);
    });
    expect((await create(`${await embedding.listen(server)}/plants`)).status).to.equal(408);
    late.verify();
    await late.ended;
    expect([...embedding.plants]).to.deep.equal([]);
    expect(embedding.failed).to.deep.equal([]);
  });

  it('may listen on a Unix socket', async () => {
    const socketPath = join(tmpdir(), `plant-store-${process.pid}.sock`);
    await embedding.listen(createServer(createApp(embedding.dependencies).callback()), socketPath);
    await embedding.expectPlantStore((body, headers) => {
      const options = { socketPath, path: '/plants', method: 'POST', headers, agent: false };
      return responseTo(request(options).end(body));
    });
  });

  for (const own of [true, false]) {
    it(`keeps the host's header and cookie, under koa-compress, on a ${own ? '`createServer`' : 'Node.js'} server`, async () => {
      const app = new Koa();
      app.use(async (ctx, next) => {
        ctx.set('X-Host', 'mine');
        await next();
        ctx.cookies.set('session', 'Ada');
      });
      app.use(compress({ threshold: 1 }));
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

  it('may use koa-passport in front of the routes', async () => {
    passport.use(new Strategy((token, done) => done(null, token === TOKEN && { name: 'Ada' })));
    const before = [passport.initialize(), passport.authenticate('bearer', { session: false })];
    const app = new Koa();
    for (const middleware of before) app.use(middleware);
    const url = `${await embedding.serve(app.use(plantStoreRoutes(embedding.dependencies)))}/plants`;
    expect((await create(url)).status).to.equal(200);
    expect((await create(url, '{', { authorization: 'Bearer unknown' })).status).to.equal(401);
    expect([...embedding.plants.keys()]).to.deep.equal([9007199254740993n]);
  });

  it('receives errors of the service as `error` events, but not client errors', async () => {
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

  it('prints no errors of `createApp`, because the observer receives them', () => {
    expect(createApp(embedding.dependencies).silent).to.equal(true);
  });

  it('reports a body that ends early as malformed, with status 499', async () => {
    const socket = new Socket();
    const { observer } = embedding.dependencies;
    const begun = () => socket.destroy();
    const app = createApp({ ...embedding.dependencies, observer: { ...observer, begun } });
    app.silent = true;
    socket.connect(Number(new URL(await embedding.serve(app, false)).port), '127.0.0.1');
    socket.write(rawCreate('{"id":1,"name":"Monstera"}').slice(0, -1));
    while (embedding.ended.length === 0) await new Promise(setImmediate);
    expect(embedding.ended[0]).to.include({ status: 499, error: 4000 });
  });
});
