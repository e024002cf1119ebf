import { rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readConfiguration } from '../src/configuration.js';

const run = promisify(execFile);
const plantStore = fileURLToPath(new URL('../../bin/plant-store.js', import.meta.url));

describe('DOCS', () => {
  const production = {
    NODE_ENV: 'production',
    STORAGE: 'memory',
    ACCESS_TOKEN_SHA256: '0'.repeat(64),
  };

  it('is on, except in production', () => {
    expect(readConfiguration({}, false).DOCS).to.equal('on');
    expect(readConfiguration(production, false).DOCS).to.equal('off');
  });

  it('is what it is set to, in production too', () => {
    expect(readConfiguration({ DOCS: 'off' }, false).DOCS).to.equal('off');
    expect(readConfiguration({ ...production, DOCS: 'on' }, false).DOCS).to.equal('on');
  });
});

describe('plant-store openapi', () => {
  const print = (env: NodeJS.ProcessEnv) =>
    run(process.execPath, [plantStore, 'openapi'], { env: { PATH: process.env.PATH, ...env } });

  it('prints the interface description, also where the service itself would not start', async () => {
    const { stdout } = await print({ NODE_ENV: 'production', BASE_PATH: '/store/v1' });
    const description = JSON.parse(stdout);
    expect(description.openapi).to.equal('3.1.0');
    expect(description.servers[0].url).to.equal('/store/v1');
  });

  it('exits with 2 when the base path is faulty', async () => {
    await rejects(print({ BASE_PATH: 'store/' }), {
      code: 2,
      stdout: '',
      stderr: /BASE_PATH: expected/,
    });
  });
});
