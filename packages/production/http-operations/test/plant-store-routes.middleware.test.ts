import { once } from 'node:events';
import { request } from 'node:http';
import type { NewPlant } from '@plant-store/domain';
import {
  type RoutesDependencies as AppDependencies,
  type HttpObserver,
  plantStoreRoutes,
} from '@plant-store/http-operations';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import {
  AUTHORIZED,
  adding,
  create,
  errorOf,
  MONSTERA,
  signal,
  timeLimit,
  useEmbedding,
} from './support/embedding.js';

describe("A host's middleware", () => {
  const embedding = useEmbedding();

  /** Serves a host: middleware, then the routes, on either server. Resolves with the address of `/plants`. */
  async function served(
    before: readonly Middleware[],
    changed: Partial<AppDependencies> = {},
    serve: 'serve' | 'serveOnNode' = 'serve',
  ): Promise<string> {
    const app = new Koa();
    app.silent = true;
    for (const middleware of before) app.use(middleware);
    app.use(plantStoreRoutes({ ...embedding.dependencies, ...changed }));
    return `${await embedding[serve](app)}/plants`;
  }

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

  describe('that ends a request early', () => {
    it('while the body arrives prevents the write', async () => {
      const [reading, ended] = [signal(), signal()];
      const observer: HttpObserver = (event) => event.type === 'request ended' && ended.give();
      const url = await served(
        [timeLimit(reading.given)],
        { admit: reading.give, observer },
        'serveOnNode',
      );
      const headers = { ...AUTHORIZED, 'content-length': MONSTERA.length };
      const client = request(url, { method: 'POST', headers });
      client.flushHeaders();
      const [response] = await once(client, 'response');
      expect(response.statusCode).to.equal(408);
      client.end(MONSTERA);
      await ended.given;
      expect([...embedding.plants]).to.deep.equal([]);
    });

    it('during the write replaces the response, not the write', async () => {
      const [storing, mayStore, stored] = [signal(), signal(), signal()];
      const add = async ({ id }: NewPlant): Promise<void> => {
        storing.give();
        await mayStore.given;
        embedding.plants.set(id, { id } as NewPlant);
        stored.give();
      };
      const url = await served([timeLimit(storing.given)], adding(add));
      expect((await create(url)).status).to.equal(408);
      mayStore.give();
      await stored.given;
    });
  });

  it('that has responded before the routes begin prevents the write, without an error', async () => {
    const errors: unknown[] = [];
    const app = new Koa();
    app.on('error', (error) => errors.push(error));
    app.use((ctx, next) => {
      ctx.res.writeHead(408).end();
      return next();
    });
    app.use(plantStoreRoutes(embedding.dependencies));
    expect((await create(`${await embedding.serveOnNode(app)}/plants`)).status).to.equal(408);
    expect(embedding.ended.map(({ error }) => error)).to.deep.equal([4080]);
    expect([errors, embedding.failed, [...embedding.plants]]).to.deep.equal([[], [], []]);
  });
});
