import cors from '@koa/cors';
import Router from '@koa/router';
import { authenticatedClient, InvalidTokenError, type NewPlant } from '@plant-store/domain';
import { type AppDependencies, type AppOptions, plantStoreRoutes } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import helmet from 'koa-helmet';
import mount from 'koa-mount';
import { adding, create, errorOf, fetching, signal, useEmbedding } from './support/embedding.js';

const ORIGIN = 'https://nursery.example';

const responseTime: Middleware = async (ctx, next) => {
  await next();
  ctx.set('X-Response-Status', `${ctx.status}`);
};
const around = [responseTime, cors({ origin: ORIGIN }), helmet()];
const mine: Middleware = (ctx) => (ctx.body = `mine: ${ctx.path}`);

describe('Third-party middleware', () => {
  const embedding = useEmbedding();

  /** Serves an application with middleware in front of the routes. Resolves with the address of `/plants`. */
  async function served(
    before: Exclude<AppOptions['before'], undefined>,
    changed: Partial<AppDependencies> = {},
  ): Promise<string> {
    const { url } = await embedding.start({ before, ...changed });
    return `${url}/plants`;
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
    it('sees every response, and changes only the headers that it sets', async () => {
      const url = await served(around);
      await embedding.expectPlantStore(fetching(url));
      await expectHeaders(url);
      const missing = await fetch(`${url}/else/where`);
      expect(await errorOf(missing)).to.equal(4040);
      expect(missing.headers.get('X-Response-Status')).to.equal('404');
    });

    it('may refuse a request with `ctx.throw`: the error number is ten times the status, and headers are kept', async () => {
      const headers = { 'Retry-After': '30', 'Content-Type': 'text/html' };
      const response = await create(await served([(ctx) => ctx.throw(429, 'slow', { headers })]));
      expect(response.status).to.equal(429);
      expect(response.headers.get('Retry-After')).to.equal('30');
      expect(response.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
      expect(await response.json()).to.deep.equal({ error: 4290, message: 'slow' });
      expect([embedding.plants.size, embedding.failed.length]).to.deep.equal([0, 0]);
    });

    it('may change the status of a failure, and `ctx.state`', async () => {
      const change: Middleware = async (ctx, next) => {
        ctx.state = { user: 'Ada' };
        await next();
        ctx.state = {};
        ctx.status = 422;
      };
      const response = await create(await served([change]), '{');
      expect([response.status, await errorOf(response)]).to.deep.equal([422, 4004]);
    });

    const responses: Record<string, [respond: Middleware, status: number, body: string]> = {
      'with a status': [(ctx) => (ctx.status = 204), 204, ''],
      'with a body': [(ctx) => Object.assign(ctx, { status: 404, body: 'gone' }), 404, 'gone'],
      'without Koa': [(ctx) => Object.assign(ctx, { respond: false }).res.end('raw'), 404, 'raw'],
    };
    for (const [how, [respond, status, body]] of Object.entries(responses)) {
      it(`may respond ${how}`, async () => {
        const response = await create(await served([respond]));
        expect([response.status, await response.text()]).to.deep.equal([status, body]);
        expect(response.headers.has('X-Request-Id')).to.equal(body !== 'raw');
        expect(embedding.failed).to.deep.equal([]);
      });
    }

    const bug = new TypeError('secret');
    const failing: Record<string, [middleware: Middleware, cause: Error]> = {
      'does not respond': [() => undefined, new Error('no middleware has responded')],
      'throws an unexpected error': [() => Promise.reject(bug), bug],
    };
    for (const [what, [middleware, cause]] of Object.entries(failing)) {
      it(`that ${what} causes a 500, which is reported with its cause`, async () => {
        const response = await create(await served([middleware]));
        expect([response.status, await errorOf(response)]).to.deep.equal([500, 5000]);
        expect(embedding.failed.map((it) => it.cause)).to.deep.equal([cause]);
      });
    }

    it('has the types that `app.use` accepts, or is added to the application by a function', async () => {
      const own: Middleware<{ user: string }> = (ctx, next) => {
        ctx.state.user = 'Ada';
        return next();
      };
      const another: Middleware<{ tenant: string }, { database: string }> = (ctx, next) => {
        ctx.database = ctx.state.tenant;
        return next();
      };
      const routes = new Router().get('/plants', mine).routes();
      // @ts-expect-error: not a function
      expect(await served([5]).catch((error) => error)).to.be.instanceOf(TypeError);
      for (const before of [
        [routes, own, another, (_: unknown, next: () => Promise<void>) => next()],
        (app: Koa) => app.use(routes).use(own).use(another),
      ]) {
        const url = await served(before);
        expect(await (await fetch(url)).text()).to.equal('mine: /plants');
        expect((await create(url, '{')).status).to.equal(400);
      }
    });
  });

  describe('that ends a request early', () => {
    const timeout =
      (passed: Promise<unknown>): Middleware =>
      (ctx, next) =>
        Promise.race([next(), passed.then(() => ctx.throw(408, 'too late'))]);
    const report: Middleware = async (ctx, next) => {
      try {
        await next();
      } catch {
        Object.assign(ctx, { status: 400, body: 'too late' });
      }
    };

    const notAwaited = 'other middleware has not awaited `next()`';
    for (const [name, before, cause] of [
      ['', [], 'too late'],
      [', also when another handles its error', [report], notAwaited],
    ] as const) {
      it(`cannot turn a stored plant into a failure${name}`, async () => {
        const throwing: Middleware = async (ctx, next) => {
          await next();
          Object.assign(ctx, { status: 202, body: 'queued' });
          ctx.throw(408, 'too late');
        };
        const response = await create(await served([...before, throwing]));
        expect(response.status).to.equal(200);
        expect(await response.text()).to.equal('{"name":"Monstera"}');
        expect(embedding.ended.map(({ status }) => status)).to.deep.equal([200]);
      });

      it(`makes the outcome of a write unknown${name}`, async () => {
        const [begun, stored] = [signal(), signal()];
        const add = async ({ id }: NewPlant): Promise<void> => {
          begun.give();
          await stored.given;
          embedding.plants.set(id, { id } as NewPlant);
        };
        const url = await served([...before, timeout(begun.given)], adding(add));
        const response = await create(url);
        expect(response.status).to.equal(503);
        expect(response.headers.get('Retry-After')).to.equal('1');
        expect(await errorOf(response)).to.equal(5031);
        stored.give();
        await new Promise(setImmediate);
        expect(embedding.ended.map(({ error }) => error)).to.deep.equal([5031]);
        expect(embedding.failed.map(({ error }) => error)).to.deep.equal([5031]);
        const message = 'other middleware ended the request before the storage responded';
        const nested = { 'cause.message': cause };
        expect(embedding.failed[0]?.cause).to.include({ message }).and.nested.include(nested);
      });

      it(`prevents a write that has not begun${name}`, async () => {
        const { verifying, ...changed } = slowVerifier();
        const response = await create(await served([...before, timeout(verifying)], changed));
        expect(response.status).to.equal(before.length === 0 ? 408 : 400);
        expect([...embedding.plants]).to.deep.equal([]);
      });
    }

    it('prevents a write that has not begun, also around `plantStoreRoutes`', async () => {
      const { verifying, give, tokenVerifier } = slowVerifier();
      const app = new Koa()
        .use(timeout(verifying))
        .use(plantStoreRoutes({ ...embedding.dependencies, tokenVerifier }))
        .on('error', give);
      expect((await create(`${await embedding.serve(app)}/plants`)).status).to.equal(408);
      expect([...embedding.plants]).to.deep.equal([]);
    });

    for (const refusal of [undefined, new InvalidTokenError('expired')]) {
      it(`and responds later by itself, keeps its response: ${refusal ?? 'a valid token'}`, async () => {
        const later: Middleware = (ctx, next) => {
          // Not awaited: a rejection would fail the test.
          void next().then(() => ctx.res.end('later'));
          Object.assign(ctx, { status: 202, respond: false });
        };
        const response = await create(await served([later], slowVerifier(refusal)));
        expect([response.status, await response.text()]).to.deep.equal([202, 'later']);
      });
    }

    /** Returns a verifier that waits until the request has ended: the body is still there. */
    function slowVerifier(refusal?: Error) {
      const [verifying, verified] = [signal(), signal()];
      const verify = async () => {
        verifying.give();
        await verified.given;
        if (refusal !== undefined) throw refusal;
        return authenticatedClient('test', ['create plants']);
      };
      const { tokenVerifier, observer } = embedding.dependencies;
      return {
        tokenVerifier: { ...tokenVerifier, verify },
        observer: { ...observer, ended: verified.give },
        verifying: verifying.given,
        give: verified.give,
      };
    }
  });

  describe('around the routes, in an application', () => {
    for (const own of [true, false]) {
      it(`handles its own paths, and the routes respond as in their own application, on the server of ${own ? 'this package' : 'Node.js'}`, async () => {
        const app = new Koa();
        for (const middleware of around) app.use(middleware);
        app.use(plantStoreRoutes(embedding.dependencies)).use(mine);
        const url = await embedding.serve(app, own);
        await embedding.expectPlantStore(fetching(`${url}/plants`));
        await expectHeaders(`${url}/plants`);
        for (const path of ['/', '/plants/', '/Plants', '/elsewhere']) {
          expect(await (await fetch(url + path)).text()).to.equal(`mine: ${path}`);
        }
      });
    }

    it('can mount the routes below a path', async () => {
      const app = new Koa().use(mount('/nursery', plantStoreRoutes(embedding.dependencies)));
      const url = await embedding.serve(app, false);
      await embedding.expectPlantStore(fetching(`${url}/nursery/plants`));
      expect((await create(`${url}/plants`)).status).to.equal(404);
    });

    it('can use the routes in a router, also below a prefix', async () => {
      const router = new Router({ prefix: '/green' })
        .get('/nursery/mine', mine)
        .use('/nursery', plantStoreRoutes(embedding.dependencies));
      const app = new Koa().use(router.routes()).use(router.allowedMethods());
      const url = await embedding.serve(app, false);
      await embedding.expectPlantStore(fetching(`${url}/green/nursery/plants`));
      expect((await fetch(`${url}/green/nursery/livez`)).status).to.equal(200);
      expect((await fetch(`${url}/green/nursery/mine`)).status).to.equal(200);
    });

    it('lists the methods of the routes in `Allow`, not those of a router in front', async () => {
      const router = new Router().all('/plants', (_, next) => next());
      const app = new Koa().use(router.routes()).use(plantStoreRoutes(embedding.dependencies));
      const url = await embedding.serve(app, false);
      const refused = await fetch(`${url}/plants`, { method: 'PUT' });
      expect([refused.status, refused.headers.get('Allow')]).to.deep.equal([405, 'POST']);
    });
  });
});
