import { once } from 'node:events';
import { request } from 'node:http';
import cors from '@koa/cors';
import Router from '@koa/router';
import {
  authenticatedClient,
  CreatePlant,
  InvalidTokenError,
  type NewPlant,
} from '@plant-store/domain';
import { createApp, plantStoreRoutes } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import helmet from 'koa-helmet';
import mount from 'koa-mount';
import session from 'koa-session';
import { create, Embedding, errorOf } from './support/embedding.js';

const ORIGIN = 'https://nursery.example';

const responseTime: Middleware = async (ctx, next) => {
  await next();
  ctx.set('X-Response-Status', `${ctx.status}`);
};

describe('Third-party middleware', () => {
  let embedding: Embedding;
  beforeEach(() => {
    embedding = new Embedding();
  });
  afterEach(() => embedding.close());

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
      const url = await embedding.serve(createApp(embedding.dependencies, { before }));
      await embedding.expectPlantStore(url);
      await expectHeaders(`${url}/plants`);
      const missing = await fetch(`${url}/elsewhere`);
      expect(await errorOf(missing)).to.equal(4040);
      expect(missing.headers.get('X-Response-Status')).to.equal('404');
    });

    it('may refuse a request with `ctx.throw`: the error number is ten times the status, and headers are kept', async () => {
      const refuse: Middleware = (ctx) =>
        ctx.throw(429, 'slow down', {
          headers: { 'Retry-After': '30', 'Content-Type': 'text/html' },
        });
      const url = await embedding.serve(createApp(embedding.dependencies, { before: [refuse] }));
      const response = await create(`${url}/plants`);
      expect(response.status).to.equal(429);
      expect(response.headers.get('Retry-After')).to.equal('30');
      expect(response.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
      expect(await response.json()).to.deep.equal({ error: 4290, message: 'slow down' });
      expect([embedding.plants.size, embedding.failed.length]).to.deep.equal([0, 0]);
    });

    it('may change the status of a failure, and `ctx.state`', async () => {
      const change: Middleware = async (ctx, next) => {
        ctx.state = { user: 'Ada' };
        await next();
        ctx.state = {};
        ctx.status = 422;
      };
      const url = await embedding.serve(createApp(embedding.dependencies, { before: [change] }));
      const response = await create(`${url}/plants`, '{');
      expect([response.status, await errorOf(response)]).to.deep.equal([422, 4004]);
    });

    const responses: Record<string, [respond: Middleware, status: number, body: string]> = {
      'with a status': [(ctx) => (ctx.status = 204), 204, ''],
      'with a body': [(ctx) => Object.assign(ctx, { status: 404, body: 'gone' }), 404, 'gone'],
      'without Koa': [(ctx) => Object.assign(ctx, { respond: false }).res.end('raw'), 404, 'raw'],
    };
    for (const [how, [respond, status, body]] of Object.entries(responses)) {
      it(`may respond ${how}`, async () => {
        const app = createApp(embedding.dependencies, { before: [respond] });
        const response = await create(await embedding.serve(app));
        expect([response.status, await response.text()]).to.deep.equal([status, body]);
        expect(response.headers.has('X-Request-Id')).to.equal(body !== 'raw');
        expect(embedding.failed).to.deep.equal([]);
      });
    }

    it('that does not respond, or throws an unexpected error, causes a 500, which is reported with its cause', async () => {
      const bug = new TypeError('secret');
      for (const [middleware, cause] of [
        [() => undefined, new Error('no middleware has responded')],
        [() => Promise.reject(bug), bug],
      ] as const) {
        const app = createApp(embedding.dependencies, { before: [middleware] });
        const response = await create(await embedding.serve(app));
        expect([response.status, await errorOf(response)]).to.deep.equal([500, 5000]);
        expect(embedding.failed.splice(0).map((it) => it.cause)).to.deep.equal([cause]);
      }
    });

    it('has the types that `app.use` accepts, or is added to the application by a function', async () => {
      const own: Middleware<{ user: string }> = (ctx, next) => {
        ctx.state.user = 'Ada';
        return next();
      };
      const another: Middleware<{ tenant: string }, { database: string }> = (ctx, next) => {
        ctx.database = ctx.state.tenant;
        return next();
      };
      const router = new Router().get('/mine', (ctx) => {
        ctx.body = 'mine';
      });
      const list = createApp(embedding.dependencies, {
        before: [
          router.routes(),
          own,
          another,
          (ctx, next) => next().then(() => ctx.set('X-Inline', '1')),
        ],
      });
      const added = createApp(embedding.dependencies, {
        before(app) {
          app.keys = ['a key for tests'];
          app.use(session(app));
          app.use(router.routes()).use(own).use(another);
          app.use((ctx, next) => {
            ctx.session = { user: 'Ada' };
            return next();
          });
        },
      });
      // @ts-expect-error: not a function
      expect(() => createApp(embedding.dependencies, { before: [5] })).to.throw(TypeError);
      for (const [app, header] of [
        [list, 'X-Inline'],
        [added, 'Set-Cookie'],
      ] as const) {
        const url = await embedding.serve(app);
        expect(await (await fetch(`${url}/mine`)).text()).to.equal('mine');
        const response = await fetch(`${url}/livez`);
        expect(response.status).to.equal(200);
        expect(response.headers.get(header)).to.be.a('string');
      }
    });

    it('does not see requests that are not valid HTTP', async () => {
      const fail: Middleware = (ctx) => ctx.throw(500);
      const url = await embedding.serve(createApp(embedding.dependencies, { before: [fail] }));
      const client = request(url, { headers: { expect: 'more' } }).end();
      const [response] = await once(client, 'response');
      expect(response.resume().statusCode).to.equal(400);
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
        ctx.status = 400;
        ctx.body = 'too late';
      }
    };

    const around: readonly [name: string, before: readonly Middleware[], cause: string][] = [
      ['', [], 'too late'],
      [
        ', also when another one has handled its error',
        [report],
        'other middleware has not awaited `next()`',
      ],
    ];
    for (const [name, before, cause] of around) {
      it(`cannot turn a stored plant into a failure${name}`, async () => {
        const throwing: Middleware = async (ctx, next) => {
          await next();
          ctx.throw(408, 'too late');
        };
        const app = createApp(embedding.dependencies, { before: [...before, throwing] });
        const response = await create(`${await embedding.serve(app)}/plants`);
        expect(response.status).to.equal(200);
        expect(await response.text()).to.equal('{"name":"Monstera"}');
        expect(embedding.ended.map(({ status }) => status)).to.deep.equal([200]);
      });

      it(`makes the outcome of a write unknown${name}`, async () => {
        const adding = signal();
        const stored = signal();
        const add = async ({ id }: NewPlant): Promise<void> => {
          adding.give();
          await stored.given;
          embedding.plants.set(id, { id } as NewPlant);
        };
        const createPlant = new CreatePlant({ add, ready: async () => {}, close: async () => {} });
        const app = createApp(
          { ...embedding.dependencies, createPlant },
          { before: [...before, timeout(adding.given)] },
        );
        const response = await create(`${await embedding.serve(app)}/plants`);
        expect(response.status).to.equal(503);
        expect(response.headers.get('Retry-After')).to.equal('1');
        expect(await errorOf(response)).to.equal(5031);
        stored.give();
        await new Promise(setImmediate);
        expect(embedding.ended.map(({ error }) => error)).to.deep.equal([5031]);
        expect(embedding.failed.map(({ error }) => error)).to.deep.equal([5031]);
        const message = 'other middleware ended the request before the storage responded';
        expect(embedding.failed[0]?.cause).to.include({ message }).and.nested.include({
          'cause.message': cause,
        });
      });

      it(`prevents a write that has not begun${name}`, async () => {
        const { tokenVerifier, verifying, verified } = slowVerifier();
        // As early as possible: the body is still there.
        const observer = { ...embedding.dependencies.observer, ended: () => verified.give() };
        const app = createApp(
          { ...embedding.dependencies, tokenVerifier, observer },
          { before: [...before, timeout(verifying.given)] },
        );
        const response = await create(`${await embedding.serve(app)}/plants`);
        expect(response.status).to.equal(before.length === 0 ? 408 : 400);
        expect([...embedding.plants]).to.deep.equal([]);
      });
    }

    it('prevents a write that has not begun, also around `plantStoreRoutes`', async () => {
      const { tokenVerifier, verifying, verified } = slowVerifier();
      const app = new Koa()
        .use(timeout(verifying.given))
        .use(plantStoreRoutes({ ...embedding.dependencies, tokenVerifier }))
        .on('error', () => verified.give());
      expect((await create(`${await embedding.serve(app)}/plants`)).status).to.equal(408);
      expect([...embedding.plants]).to.deep.equal([]);
    });

    for (const refusal of [undefined, new InvalidTokenError('expired')]) {
      it(`and responds later by itself, keeps its response: ${refusal ?? 'a valid token'}`, async () => {
        const { tokenVerifier, verified } = slowVerifier(refusal);
        const later: Middleware = (ctx, next) => {
          // Not awaited: a rejection would fail the test.
          void next().then(() => ctx.res.end('later'));
          Object.assign(ctx, { status: 202, respond: false });
        };
        const observer = { ...embedding.dependencies.observer, ended: () => verified.give() };
        const dependencies = { ...embedding.dependencies, tokenVerifier, observer };
        const app = createApp(dependencies, { before: [later] });
        const response = await create(`${await embedding.serve(app)}/plants`);
        expect([response.status, await response.text()]).to.deep.equal([202, 'later']);
      });
    }

    /** Returns a verifier that waits for a signal after it has been called. */
    function slowVerifier(refusal?: Error) {
      const verifying = signal();
      const verified = signal();
      const verify = async () => {
        verifying.give();
        await verified.given;
        if (refusal !== undefined) throw refusal;
        return authenticatedClient('test', ['create plants']);
      };
      const tokenVerifier = { ...embedding.dependencies.tokenVerifier, verify };
      return { tokenVerifier, verifying, verified };
    }
  });

  describe('around the routes, in an application', () => {
    for (const own of [true, false]) {
      it(`handles its own paths, and the routes respond as in their own application, on the server of ${own ? 'this package' : 'Node.js'}`, async () => {
        const app = new Koa()
          .use(responseTime)
          .use(cors({ origin: ORIGIN }))
          .use(helmet())
          .use(plantStoreRoutes(embedding.dependencies))
          .use((ctx) => {
            ctx.body = `mine: ${ctx.path}`;
          });
        const url = await embedding.serve(app, own);
        await embedding.expectPlantStore(url);
        await expectHeaders(`${url}/plants`);
        for (const path of ['/', '/plants/', '/Plants', '/elsewhere']) {
          expect(await (await fetch(url + path)).text()).to.equal(`mine: ${path}`);
        }
      });
    }

    it('can mount the routes below a path', async () => {
      const app = new Koa().use(mount('/nursery', plantStoreRoutes(embedding.dependencies)));
      const url = await embedding.serve(app, false);
      await embedding.expectPlantStore(`${url}/nursery`);
      expect((await create(`${url}/plants`)).status).to.equal(404);
      expect((await fetch(`${url}/nursery/livez`)).status).to.equal(200);
    });

    it('can use the routes in a router, also below a prefix', async () => {
      const router = new Router({ prefix: '/green' })
        .get('/nursery/mine', (ctx) => {
          ctx.body = 'mine';
        })
        .use('/nursery', plantStoreRoutes(embedding.dependencies));
      const url = await embedding.serve(
        new Koa().use(router.routes()).use(router.allowedMethods()),
        false,
      );
      await embedding.expectPlantStore(`${url}/green/nursery`);
      expect((await fetch(`${url}/green/nursery/livez`)).status).to.equal(200);
      expect(await (await fetch(`${url}/green/nursery/mine`)).text()).to.equal('mine');
    });

    it('lists the methods of the routes in `Allow`, not those of a router in front', async () => {
      const router = new Router().all('/plants', (_, next) => next());
      const app = new Koa().use(router.routes()).use(plantStoreRoutes(embedding.dependencies));
      await embedding.expectPlantStore(await embedding.serve(app, false));
    });
  });
});

function signal() {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}
