import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, launchChromium } from '@plant-store/test-servers/programs';
import type { Service } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { read } from '../support/root.js';
import { TOKEN } from './support/requests.js';
import { startService } from './support/service.js';

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
    page = await browser.newPage();
    await page.goto(origin);
  });

  after(async () => {
    await browser?.close();
    pages?.close();
    await service?.stop();
  });

  it('creates a plant with the JavaScript client, and reads its errors', async () => {
    const given = JSON.stringify([CLIENT, `http://127.0.0.1:${service.port}`, TOKEN]);
    const taken = ['PlantIdTakenError', 4006, true];
    expect(await page.evaluate(`(${CREATE_TWICE})(${given})`)).to.deep.equal(taken);
  });
});
