import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, launchChromium } from '@plant-store/test-servers/programs';
import type { Service } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { freshId, TOKEN } from './support/requests.js';
import { startService } from './support/service.js';

/** A program of a page, which sends `{ url, token, body }` with its credentials and resolves with what it can read. */
const WRAPPERS: Readonly<Record<string, string>> = {
  'fetch with credentials': `async ({ url, token, body }) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body, credentials: 'include' });
    return [response.status, await response.text(), response.headers.has('X-Request-Id')];
  }`,
  'XMLHttpRequest with credentials, as axios': `({ url, token, body }) => new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.withCredentials = true;
    request.setRequestHeader('Authorization', 'Bearer ' + token);
    request.setRequestHeader('Content-Type', 'application/json');
    request.onloadend = () => resolve([
      request.status, request.responseText, request.getResponseHeader('X-Request-Id') !== null,
    ]);
    request.send(body);
  })`,
};

describe('A page of a listed origin in Chromium', function () {
  this.timeout(60_000);

  let pages: Server;
  let origin: string;
  let service: Service;
  let browser: Browser;
  let page: Browser;

  before(async function () {
    browser = await launchChromium(this);
    pages = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Nursery</title>');
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    service = await startService({ CORS_ALLOWED_ORIGINS: origin });
    const context = await browser.newContext();
    // Cookies belong to a host, whatever its port.
    await context.addCookies([{ name: 'balancer', value: 'a', url: origin }]);
    page = await context.newPage();
    await page.goto(origin);
  });

  after(async () => {
    await browser?.close();
    pages?.close();
    await service?.stop();
  });

  for (const [name, program] of Object.entries(WRAPPERS)) {
    it(`creates a plant, and reads the response: ${name}`, async () => {
      const url = `http://127.0.0.1:${service.port}/plants`;
      const sent = page.waitForRequest((it: { method(): string }) => it.method() === 'POST');
      const call = JSON.stringify({
        url,
        token: TOKEN,
        body: `{"id":${freshId()},"name":"Monstera"}`,
      });
      const read = await page.evaluate(`(${program})(${call})`);
      expect(read).to.deep.equal([200, '{"name":"Monstera"}', true]);
      expect(await (await sent).headerValue('cookie')).to.equal('balancer=a');
    });
  }
});
