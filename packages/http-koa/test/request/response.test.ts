import { once } from 'node:events';
import { connect } from 'node:net';
import cors from '@koa/cors';
import { createApp, plantStoreRoutes } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';
import { EVERY_RESPONSE } from '../../src/request/response.js';
import { create, Embedding } from '../support/embedding.js';

describe('A header that is added to the list of every response', () => {
  let embedding: Embedding;
  const list = EVERY_RESPONSE as Map<string, (requestId: string) => string>;
  beforeEach(() => {
    embedding = new Embedding();
    list.set('X-Added', (requestId) => `to ${requestId}`);
  });
  afterEach(async () => {
    list.delete('X-Added');
    await embedding.close();
  });

  const apps: Record<string, () => Koa> = {
    'without middleware': () => createApp(embedding.dependencies),
    'with CORS': () => createApp(embedding.dependencies, { before: [cors()] }),
    'of a host': () => new Koa().use(plantStoreRoutes(embedding.dependencies)),
  };
  for (const [kind, app] of Object.entries(apps)) {
    it(`is in every response of an application ${kind}`, async () => {
      const url = await embedding.serve(app());
      const etag = (await fetch(`${url}/docs`)).headers.get('ETag') ?? '';
      const preflight = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' };
      for (const response of [
        await create(`${url}/plants`),
        await create(`${url}/plants`, '{'),
        await create(`${url}/plants`, '{', 'unknown'),
        await fetch(`${url}/plants`, { method: 'PUT' }),
        await fetch(`${url}/livez`),
        await fetch(`${url}/livez`, { method: 'HEAD' }),
        await fetch(`${url}/docs`, { headers: { 'If-None-Match': etag } }),
        await fetch(`${url}/plants`, { method: 'OPTIONS', headers: preflight }),
      ]) {
        const id = response.headers.get('X-Request-Id');
        expect(response.headers.get('X-Added'), `${response.status}`).to.equal(`to ${id}`);
      }
    });
  }

  for (const [what, request] of Object.entries({
    'the parser refuses': 'GARBAGE\r\n\r\n',
    'breaks a rule of HTTP': 'GET /livez HTTP/1.1\r\n\r\n',
  })) {
    it(`is in the response to a request that ${what}`, async () => {
      const url = await embedding.serve(createApp(embedding.dependencies));
      const client = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
      client.write(request);
      const [response] = await once(client, 'data');
      expect(response).to.match(/^HTTP\/1\.1 400 [\s\S]*\r\nX-Added: to [\w-]+\r\n/);
      client.destroy();
    });
  }
});
