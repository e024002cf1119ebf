import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { configure } from '@codegenie/serverless-express';
import cors from '@koa/cors';
import { type HttpObserver, plantStoreRoutes } from '@plant-store/http-operations';
import { expect } from 'chai';
import Koa from 'koa';
import mount from 'koa-mount';
import inject from 'light-my-request';
import {
  AUTHORIZED,
  create,
  createApp,
  Embedding,
  errorOf,
  MONSTERA,
  rawCreate,
  type Send,
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

/** Sends each create to a new server. */
function overHttp2(app: Koa): Send {
  return async (sent, headers) => {
    const server = createHttp2Server(app.callback());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const stream = session.request({ ':method': 'POST', ':path': '/plants', ...headers });
    const [{ ':status': status, ...fields }] = await once(stream.end(sent), 'response');
    const body = await text(stream);
    session.close();
    server.close();
    return { status, headers: fields, body };
  };
}

/** Hosts that only this package can break: their bodies arrive with the request or when they are read, or need no length. */
const hosts: Readonly<Record<string, (app: Koa) => Send>> = {
  '@codegenie/serverless-express': (app) => throughLambda(configure({ app: app as never })),
  'light-my-request': (app) => async (payload, headers) => {
    const dispatch = app.callback() as Parameters<typeof inject>[0];
    const response = await inject(dispatch, { method: 'POST', url: '/plants', headers, payload });
    return { status: response.statusCode, headers: response.headers, body: response.payload };
  },
  'HTTP/2': overHttp2,
};

describe('A host other than `createServer`', () => {
  const embedding = useEmbedding();

  for (const [name, host] of Object.entries(hosts)) {
    it(`serves the application, or its routes alone: ${name}`, async () => {
      for (const appOf of [
        () => createApp(embedding.dependencies),
        () => new Koa().use(cors()).use(mount(createApp(embedding.dependencies))),
        () => new Koa().use(plantStoreRoutes(embedding.dependencies)),
      ]) {
        Object.assign(embedding, new Embedding());
        await embedding.expectPlantStore(host(appOf()));
      }
    });

    it(`prevents the write if its own time limit has responded first: ${name}`, async () => {
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

  it('prevents the write if it responds first, even if `headersSent` stays false (@fastify/express)', async () => {
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
      const url = await embedding.serveOnNode(app);
      expect(await errorOf(await fetch(`${url}/readyz`))).to.equal(5000);
      expect((await create(`${url}/plants`, '{')).status).to.equal(400);
      expect(emitted.splice(0)).to.deep.equal([[bug, '/readyz']]);
    }
    expect(embedding.failed).to.have.length(3);
  });

  it('reports a body that ends early as malformed, with status 499', async () => {
    const socket = new Socket();
    const observer: HttpObserver = (event) => {
      if (event.type === 'request begun') socket.destroy();
      embedding.events.push(event);
    };
    const app = createApp({ ...embedding.dependencies, observer });
    socket.connect(Number(new URL(await embedding.serveOnNode(app)).port), '127.0.0.1');
    socket.write(rawCreate('{"id":1,"name":"Monstera"}').slice(0, -1));
    while (embedding.ended.length === 0) await new Promise(setImmediate);
    expect(embedding.ended[0]).to.include({ status: 499, error: 4000 });
  });
});
