import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { CreatePlant } from '@plant-store/domain';
import { createApp, plantRouter, respondToFailures } from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import Koa from 'koa';
import koaBodyParser from 'koa-bodyparser';
import mount from 'koa-mount';

const tokens = new StaticTokenVerifier([{ sha256: tokenDigest('demo'), label: 'demo' }]);

describe('The application in a Koa application', () => {
  let close = (): void => undefined;
  afterEach(() => close());

  async function create(app: Koa, path = '/plants', body = '{"id":1,"name":"Monstera"}') {
    app.silent = true;
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    close = () => {
      server.close();
      server.closeAllConnections();
    };
    const headers = { authorization: 'Bearer demo', 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    return fetch(url, { method: 'POST', headers, body });
  }
  const useCase = () => new CreatePlant(tokens, new MemoryPlantRepository());

  it('keeps the headers that middleware sets after `next`, and the cookie of a session', async () => {
    const host = new Koa();
    host.use(async (ctx, next) => {
      await next();
      ctx.set('X-Late', 'yes');
      // As koa-session does.
      ctx.cookies.set('koa.sess', 'seen');
    });
    host.use(mount('/nursery', createApp(useCase())));
    const response = await create(host, '/nursery/plants');
    expect([response.status, response.headers.get('X-Late')]).to.deep.equal([200, 'yes']);
    expect(response.headers.get('Set-Cookie')).to.include('koa.sess');
  });

  it('responds without the global `Response`, which Node.js loads together with `fetch`', async () => {
    const { Response: value } = globalThis;
    let uses = 0;
    const get = () => {
      uses += 1;
      return value;
    };
    Object.defineProperty(globalThis, 'Response', { configurable: true, get });
    try {
      expect((await create(createApp(useCase()))).status).to.equal(200);
      close();
      expect((await create(createApp(useCase()), '/plants', '{')).status).to.equal(400);
    } finally {
      Object.defineProperty(globalThis, 'Response', { configurable: true, writable: true, value });
    }
    expect(uses).to.equal(0);
  });

  it('refuses options that would disable a limit or be a pattern of paths', () => {
    for (const [options, error] of [
      [{ bodyLimit: Number.NaN }, 'bodyLimit must be a whole number above 0, found NaN'],
      [{ timeLimitMs: Number.POSITIVE_INFINITY }, 'timeLimitMs'],
      [
        { basePath: '/:store' },
        "basePath must be empty or segments like /store/v1, found '/:store'",
      ],
    ] as const) {
      expect(() => createApp(useCase(), options), error).to.throw(error);
    }
  });

  it('passes on what the route alone does not serve', async () => {
    const host = new Koa();
    host.use(respondToFailures);
    host.use(plantRouter(useCase()).routes());
    host.use((ctx) => {
      ctx.body = 'mine';
    });
    expect(await (await create(host, '/mine')).text()).to.equal('mine');
  });

  it('reports another body parser before it as a setup error', async () => {
    const errors: unknown[] = [];
    const host = new Koa().use(koaBodyParser()).use(mount(createApp(useCase())));
    host.on('error', (error) => errors.push(`${error}`));
    expect((await create(host)).status).to.equal(500);
    expect(errors.join()).to.include('another body parser');
  });
});
