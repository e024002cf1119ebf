import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, launchChromium } from '@plant-store/test-servers/programs';
import type { Service } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { read } from '../support/root.js';
import { freshId, TOKEN } from './support/requests.js';
import { startService } from './support/service.js';

/** A program of a page, which sends `{ url, token, body }` with its credentials and resolves with what it can read. */
const SEND = `async ({ url, token, body }) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body, credentials: 'include' });
  return [response.status, await response.text(), response.headers.has('X-Request-Id')];
}`;

/** The path of the client, in the project and on the server of the page. */
const CLIENT = '/examples/clients/javascript/plant-store-client.js';

/** A program of a page, which imports the client and creates a plant twice. */
const CREATE_TWICE = `async ([client, address, token]) => {
  const { newPlantId, PlantStoreClient } = await import(client);
  const plants = new PlantStoreClient(address, token);
  const plant = { id: newPlantId(), name: 'Monstera' };
  await plants.create(plant);
  return plants.create(plant).catch(({ name, error, requestId }) => [name, error, requestId !== undefined]);
}`;

describe('A page of an allowed origin in Chromium', function () {
  this.timeout(60_000);

  let pages: Server;
  let origin: string;
  let service: Service;
  let browser: Browser;
  let page: Browser;

  before(async function () {
    browser = await launchChromium(this);
    pages = createServer(({ url }, response) => {
      if (url === CLIENT) response.setHeader('Content-Type', 'text/javascript').end(read(CLIENT));
      else response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Nursery');
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

  it('creates a plant with its credentials, and reads the response', async () => {
    const url = `http://127.0.0.1:${service.port}/plants`;
    const sent = page.waitForRequest((it: { method(): string }) => it.method() === 'POST');
    const body = `{"id":${freshId()},"name":"Monstera"}`;
    const received = await page.evaluate(
      `(${SEND})(${JSON.stringify({ url, token: TOKEN, body })})`,
    );
    expect(received).to.deep.equal([200, '{"name":"Monstera"}', true]);
    expect(await (await sent).headerValue('cookie')).to.equal('balancer=a');
  });

  it('creates a plant with the JavaScript client, and reads its errors', async () => {
    const given = JSON.stringify([CLIENT, `http://127.0.0.1:${service.port}`, TOKEN]);
    const taken = ['PlantIdTakenError', 4006, true];
    expect(await page.evaluate(`(${CREATE_TWICE})(${given})`)).to.deep.equal(taken);
  });
});
