import { expect } from 'chai';
import Koa from 'koa';
import { exactRouter, serveRoutes } from '../../src/frame/routes.js';
import { Embedding } from '../embedding.js';

describe('The routes of a router', () => {
  it('may have parameters and several steps; the first of several is carried out', async () => {
    const router = exactRouter()
      .get('/plants/:id', (ctx) => {
        ctx.body = `plant ${ctx.params.id}`;
      })
      .get('/once', (_, next) => next())
      .get('/once', (ctx) => {
        ctx.body = 'twice';
      })
      .get(
        '/steps',
        (_, next) => next(),
        (ctx) => {
          ctx.body = 'two steps';
        },
      );
    const app = new Koa().use(serveRoutes(router)).use((ctx) => {
      ctx.body ??= `elsewhere ${ctx._matchedRoute}`;
    });
    const embedding = new Embedding();
    const url = await embedding.serve(app);
    for (const [path, body] of Object.entries({
      '/plants/7?a': 'plant 7',
      '/plants/:id': 'plant :id',
      '/once': 'elsewhere /once',
      '/steps': 'two steps',
      '/plants/7/': 'elsewhere undefined',
    })) {
      expect(await (await fetch(url + path)).text(), path).to.equal(body);
    }
    await embedding.close();
  });
});
