import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { launchChromium } from '@plant-store/chromium';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type Service, serveHere, stopAll } from './support/in-process.js';

/** Runs in the page: sends a request. Resolves with what a page can read, or the name of the error of `fetch`. */
async function call([url, token, body]: readonly [string, string, string]) {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'X-Request-Id': 'from-a-page',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };
  try {
    const response = await fetch(url, { method: 'POST', headers, body });
    const fields = ['X-Request-Id', 'WWW-Authenticate'].map((name) => response.headers.get(name));
    return { status: response.status, body: await response.json(), fields };
  } catch (error) {
    return { failed: error instanceof Error ? error.name : `${error}` };
  }
}

describe('A page of another origin in Chromium', function () {
  this.timeout(60_000);
  const site = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html').end('<title>Nursery</title>');
  });
  let browser: Browser;
  let service: Service;
  let listed: Page;
  let other: Page;

  before(async function () {
    browser = await launchChromium(this);
    await once(site.listen(0, '127.0.0.1'), 'listening');
    const { port } = site.address() as AddressInfo;
    const open = async (origin: string) => {
      const page = await browser.newPage();
      await page.goto(origin);
      return page;
    };
    listed = await open(`http://127.0.0.1:${port}`);
    other = await open(`http://localhost:${port}`);
    const CORS_ALLOWED_ORIGINS = `http://127.0.0.1:${port}`;
    service = await serveHere({ ACCESS_TOKEN_SHA256, CORS_ALLOWED_ORIGINS });
  });

  after(async () => {
    await browser?.close();
    site.close();
    await stopAll();
  });

  const create = (page: Page, body: string, token = TOKEN) =>
    page.evaluate(call, [`${service.address}/plants`, token, body] as const);

  it('creates a plant, and can read an error, when its origin is listed', async () => {
    expect(await create(listed, '{"id":9007199254740993,"name":"Ficus"}')).to.deep.equal({
      ...{ status: 200, body: { name: 'Ficus' }, fields: ['from-a-page', null] },
    });
    const refused = await create(listed, '{"id":2,"name":""}', 'another-token');
    expect(refused).to.include({ status: 401 }).and.to.have.nested.property('body.error', 4011);
    expect(refused.fields?.[0]).to.equal('from-a-page');
    expect(refused.fields?.[1]).to.include('invalid_token');
  });

  it('can neither create a plant nor read a response when its origin is not listed', async () => {
    expect(await create(other, '{"id":3,"name":"Ficus"}')).to.deep.equal({ failed: 'TypeError' });
    const { status } = await create(listed, '{"id":3,"name":"Ficus"}');
    expect(status, 'the id is free').to.equal(200);
  });
});
