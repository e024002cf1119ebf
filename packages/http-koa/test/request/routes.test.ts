import { expect } from 'chai';
import Koa from 'koa';
import { type Routes, serveRoutes } from '../../src/request/routes.js';
import { useEmbedding } from '../support/embedding.js';

describe('The routes', () => {
  const embedding = useEmbedding();

  it('may contain parameters, and pass on other paths', async () => {
    const text = (body: string) => ({ status: 200, headers: [], body });
    const routes: Routes = {
      '/plants/:id': { GET: ({ ctx }) => text(`plant ${ctx.captures[0]}`) },
      '/plants': { GET: () => text('plants') },
    };
    const serve = serveRoutes(routes, (operation) => async (ctx) => {
      ctx.body = (await operation({ ctx } as never)).body;
    });
    const app = new Koa().use(serve).use((ctx) => (ctx.body = `elsewhere ${ctx._matchedRoute}`));
    const url = await embedding.serve(app);
    for (const [path, body] of Object.entries({
      '/plants': 'plants',
      '/plants?a': 'plants',
      '/plants/7?a': 'plant 7',
      '/plants/:id': 'plant :id',
      '/plants/7/': 'elsewhere undefined',
      '/Plants': 'elsewhere undefined',
    })) {
      expect(await (await fetch(url + path)).text(), path).to.equal(body);
    }
  });
});
