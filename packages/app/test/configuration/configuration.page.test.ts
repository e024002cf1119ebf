import { endAll, run } from '@plant-store/service-process';
import { expect } from 'chai';
import { readConfiguration } from '../../src/configuration/configuration.js';

describe('DOCS', () => {
  after(endAll);

  const production = {
    NODE_ENV: 'production',
    STORAGE: 'memory',
    ACCESS_TOKEN_SHA256: '0'.repeat(64),
  };

  it('is on, except in production', async () => {
    expect((await readConfiguration({}, false)).DOCS).to.equal('on');
    expect((await readConfiguration(production, false)).DOCS).to.equal('off');
  });

  it('can be set, also in production', async () => {
    expect((await readConfiguration({ DOCS: 'off' }, false)).DOCS).to.equal('off');
    expect((await readConfiguration({ ...production, DOCS: 'on' }, false)).DOCS).to.equal('on');
  });

  it('adds the address of the docs page to the output when it is on', async () => {
    const service = run(['serve'], { PORT: '0' });
    const [, address = ''] = await service.printed(/Docs: (\S+)\n/);
    const page = await fetch(address);
    expect(page.status).to.equal(200);
    expect(await page.text()).to.include('<title>Plant Store</title>');
  });

  it('removes the docs page and its address when it is off', async () => {
    const service = run(['serve'], { PORT: '0', DOCS: 'off' });
    const [, address = ''] = await service.printed(/listens on (\S+)\n[\s\S]*curl/);
    expect(service.stdout()).not.to.include('Docs:');
    expect((await fetch(`${address}/docs`)).status).to.equal(404);
  });
});

describe('plant-store openapi', () => {
  after(endAll);

  it('prints the interface description, also when the service would not start', async () => {
    const command = run(['openapi'], { NODE_ENV: 'production', BASE_PATH: '/store/v1' });
    expect(await command.ended).to.equal(0);
    expect(command.stdout()).to.match(/^\{\n {2}"openapi": /);
    const description = JSON.parse(command.stdout());
    expect(description.openapi).to.equal('3.1.0');
    expect(description.servers[0].url).to.equal('/store/v1');
  });

  it('exits with 2 when the base path is invalid', async () => {
    const command = run(['openapi'], { BASE_PATH: 'store/' });
    expect(await command.ended).to.equal(2);
    expect(command.stdout()).to.equal('');
    expect(command.stderr()).to.match(/BASE_PATH: expected/);
  });
});
