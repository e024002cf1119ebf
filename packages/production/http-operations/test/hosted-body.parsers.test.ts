import { plantStoreRoutes } from '@plant-store/http-operations';
import express from 'body-parser';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import koaBodyParser from 'koa-bodyparser';
import connect from 'koa-connect';
import { create, createSlowly, errorOf, useEmbedding } from './support/embedding.js';

const disabled: Middleware = (ctx, next) => {
  ctx.disableBodyParser = true;
  return next();
};

describe('A body parser in front of the routes', () => {
  const embedding = useEmbedding();

  const routesAfter = (before: readonly Middleware[]) => {
    const app = new Koa();
    app.silent = true;
    for (const middleware of before) app.use(middleware);
    return app.use(plantStoreRoutes(embedding.dependencies));
  };
  const parsers: Record<string, () => Koa> = {
    'koa-bodyparser': () => routesAfter([koaBodyParser()]),
    'express.json': () => routesAfter([connect(express.json())]),
  };
  const harmless: Record<string, () => Koa> = {
    'koa-bodyparser for forms': () => routesAfter([koaBodyParser({ enableTypes: ['form'] })]),
    // As Google Cloud Functions and Firebase, where it cannot be turned off.
    'express.json that keeps the bytes': () =>
      routesAfter([
        connect(express.json({ verify: (req, _, rawBody) => Object.assign(req, { rawBody }) })),
      ]),
    'koa-bodyparser that is disabled': () => routesAfter([disabled, koaBodyParser()]),
  };

  for (const [name, app] of Object.entries(parsers)) {
    it(`that reads JSON is reported as a setup error: ${name}`, async () => {
      const url = `${await embedding.serve(app())}/plants`;
      const response = await create(url);
      expect([response.status, await errorOf(response)]).to.deep.equal([500, 5000]);
      expect(await createSlowly(url)).to.equal(500);
      expect(embedding.plants.size).to.equal(0);
      const causes = embedding.failed.map(({ cause }) => `${cause}`.includes('body parser'));
      expect(causes).to.deep.equal([true, true]);
    });
  }

  for (const [name, app] of Object.entries(harmless)) {
    it(`that leaves the body alone has no effect: ${name}`, async () => {
      const url = `${await embedding.serve(app())}/plants`;
      expect((await create(url)).status).to.equal(200);
      expect(await createSlowly(url, '{"id":9007199254740992,"name":""}')).to.equal(200);
      expect([...embedding.plants.keys()]).to.deep.equal([9007199254740993n, 9007199254740992n]);
      expect(await createSlowly(url, '{')).to.equal(400);
      expect(embedding.failed).to.deep.equal([]);
    });
  }
});
