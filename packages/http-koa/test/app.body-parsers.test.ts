import { bodyParser as successor } from '@koa/bodyparser';
import { createApp, plantStoreRoutes } from '@plant-store/http-koa';
import express from 'body-parser';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import { koaBody } from 'koa-body';
import koaBodyParser from 'koa-bodyparser';
import connect from 'koa-connect';
import { create, createSlowly, Embedding, errorOf } from './support/embedding.js';

const disabled: Middleware = (ctx, next) => {
  ctx.disableBodyParser = true;
  return next();
};

describe('A body parser in front of the routes', () => {
  let embedding: Embedding;
  beforeEach(() => {
    embedding = new Embedding();
  });
  afterEach(() => embedding.close());

  const apps: Record<string, (before: readonly Middleware[]) => Koa> = {
    'in front of `createApp`': (before) => createApp(embedding.dependencies, { before }),
    'around `plantStoreRoutes`': (before) => {
      const app = new Koa();
      app.silent = true;
      for (const middleware of before) app.use(middleware);
      return app.use(plantStoreRoutes(embedding.dependencies));
    },
  };
  const parsers: Record<string, () => Middleware> = {
    'koa-bodyparser': () => koaBodyParser(),
    '@koa/bodyparser': () => successor(),
    'koa-body': () => koaBody(),
    'express.json': () => connect(express.json()),
  };
  const harmless: Record<string, () => readonly Middleware[]> = {
    'koa-bodyparser for forms': () => [koaBodyParser({ enableTypes: ['form'] })],
    '@koa/bodyparser for forms': () => [successor({ enableTypes: ['form'] })],
    'koa-body for forms': () => [koaBody({ json: false })],
    'koa-bodyparser that is disabled': () => [disabled, koaBodyParser()],
    '@koa/bodyparser that is disabled': () => [disabled, successor()],
  };

  for (const [where, appWith] of Object.entries(apps)) {
    for (const [name, parser] of Object.entries(parsers)) {
      it(`is a fault of the set-up, whenever the bytes arrive: ${name} ${where}`, async () => {
        const url = `${await embedding.serve(appWith([parser()]))}/plants`;
        const response = await create(url);
        expect([response.status, await errorOf(response)]).to.deep.equal([500, 5000]);
        expect(await createSlowly(url)).to.equal(500);
        expect(embedding.plants.size).to.equal(0);
        for (const { cause } of embedding.failed) {
          expect(cause)
            .to.be.an('error')
            .with.property('message')
            .that.matches(/body parser/);
        }
        expect(embedding.failed).to.have.length(2);
      });
    }

    for (const [name, before] of Object.entries(harmless)) {
      it(`changes nothing when it leaves the body alone: ${name} ${where}`, async () => {
        const url = `${await embedding.serve(appWith(before()))}/plants`;
        expect((await create(url)).status).to.equal(200);
        expect(await createSlowly(url, '{"id":9007199254740992,"name":""}')).to.equal(200);
        expect([...embedding.plants.keys()]).to.deep.equal([9007199254740993n, 9007199254740992n]);
        expect(await createSlowly(url, '{')).to.equal(400);
        expect(embedding.failed).to.deep.equal([]);
      });
    }
  }
});
