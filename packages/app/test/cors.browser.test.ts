import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { launchChromium } from '@plant-store/chromium';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type Service, serveHere, stopAll } from './support/in-process.js';

/** The part of a response that a page can read, or the name of the error of `fetch`. */
interface Read {
  readonly status?: number;
  readonly body?: unknown;
  readonly requestId?: string | null;
  readonly challenge?: string | null;
  readonly failed?: string;
}

/** Runs in the page: sends a request. */
async function call([url, authorization, body]: readonly [string, string, string]): Promise<Read> {
  const headers = {
    Authorization: authorization,
    'Content-Type': 'application/json',
    'X-Request-Id': 'from-a-page',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };
  try {
    const response = await fetch(url, { method: 'POST', headers, body });
    return {
      status: response.status,
      body: await response.json(),
      requestId: response.headers.get('X-Request-Id'),
      challenge: response.headers.get('WWW-Authenticate'),
    };
  } catch (error) {
    return { failed: error instanceof Error ? error.name : `${error}` };
  }
}

describe('A page of another origin in Chromium', function () {
  this.timeout(60_000);

  let browser: Browser | undefined;
  let service: Service;
  const sites: Server[] = [];

  /** Opens an empty page of a new origin. */
  async function open(): Promise<{ page: Page; origin: string }> {
    const site = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end('<title>Nursery</title>');
    }).listen(0, '127.0.0.1');
    sites.push(site);
    await once(site, 'listening');
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const page = await (browser as Browser).newPage();
    await page.goto(origin);
    return { page, origin };
  }

  let listed: Page;
  let other: Page;

  before(async function () {
    browser = await launchChromium(this);
    const shop = await open();
    listed = shop.page;
    other = (await open()).page;
    service = await serveHere({ ACCESS_TOKEN_SHA256, CORS_ALLOWED_ORIGINS: shop.origin });
  });

  after(async () => {
    await browser?.close();
    for (const site of sites) site.close();
    await stopAll();
  });

  const create = (page: Page, body: string, token = TOKEN) =>
    page.evaluate(call, [`${service.address}/plants`, `Bearer ${token}`, body] as const);

  it('creates a plant when its origin is listed', async () => {
    expect(await create(listed, '{"id":9007199254740993,"name":"Ficus"}')).to.deep.equal({
      status: 200,
      body: { name: 'Ficus' },
      requestId: 'from-a-page',
      challenge: null,
    });
  });

  it('can read an error when its origin is listed', async () => {
    const refused = await create(listed, '{"id":2,"name":"Ficus"}', 'another-token');
    expect(refused).to.deep.include({ status: 401, requestId: 'from-a-page' });
    expect(refused.body).to.deep.include({ error: 4011 });
    expect(refused.challenge).to.include('invalid_token');
    expect((await create(listed, '{')).body).to.deep.include({ error: 4004 });
  });

  it('can neither create a plant nor read a response when its origin is not listed', async () => {
    expect(await create(other, '{"id":3,"name":"Ficus"}')).to.deep.equal({ failed: 'TypeError' });
    const { status } = await create(listed, '{"id":3,"name":"Ficus"}');
    expect(status, 'the id is free').to.equal(200);
  });
});
