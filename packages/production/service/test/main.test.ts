import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@plant-store/test-servers/loopback';
import { sha256 } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { build } from '../src/build.js';
import { urlOf } from '../src/commands/own-process.js';
import { Command, result, serveHere, stopAll } from './support/in-process.js';

const checkout = join(import.meta.dirname, '../../../../..');
const page = readFileSync(`${checkout}/docs/configuration.md`, 'utf8');

describe('The plant-store command', () => {
  it('reports every problem as docs/configuration.md shows, opens nothing, and exits with 2', async () => {
    const [, shown = ''] = /^(plant-store: invalid[\s\S]*?)```/m.exec(page) ?? [];
    const env = { PORT: '70000', MONGODB_URL: 'mongodb://127.0.0.1' };
    expect(await result([], env)).to.deep.equal({ code: 2, out: '', err: shown });
  });

  it('escapes control characters, which a terminal would execute', async () => {
    const { err } = await result([], { PORT: '\u009b2J' });
    expect(err).to.include('got "\\x9b2J"');
  });

  it('prints its usage for --help, -h and help', async () => {
    const help = await result(['--help']);
    expect([help.code, help.err]).to.deep.equal([0, '']);
    expect(help.out.slice(-500)).to.include(`see docs/configuration.md\nin ${checkout}.\n`);
    for (const line of ['-h', 'help', 'help import', 'serve --help', 'import a.ndjson -h']) {
      expect(await result(line.split(' ')), line).to.deep.equal(help);
    }
  });

  it('prints a new token and its digest', async () => {
    const { code, out } = await result(['token']);
    expect(code).to.equal(0);
    const [token = '', ...rest] = out.split('\n');
    expect(token).to.match(/^\S{43,}$/);
    expect(rest).to.deep.equal([sha256(token), '']);
  });

  it('prints the OpenAPI description even if the configuration is otherwise invalid', async () => {
    const env = { NODE_ENV: 'production', BASE_PATH: '/store/v1', PORT: '8080' };
    const { code, out } = await result(['openapi'], env);
    expect(code).to.equal(0);
    expect(out).to.match(/^\{\n {2}"openapi": "3\.0\.3"/);
    const { servers, info } = JSON.parse(out);
    expect(servers[0].variables.base_url.default).to.equal('http://127.0.0.1:8080/store/v1');
    expect(info['x-build']).to.deep.equal(build);
    const known = await result(['openapi'], { ...env, PUBLIC_URL: 'https://plants.example.com' });
    expect(JSON.parse(known.out).servers[0].url).to.equal('https://plants.example.com/store/v1');
    const refused = await result(['openapi'], { BASE_PATH: 'store/' });
    expect([refused.code, refused.out]).to.deep.equal([2, '']);
    expect(refused.err).to.match(/BASE_PATH: must be/);
  });

  it('prints its version for --version, -v and version', async () => {
    const expected = { code: 0, out: `${build.version}\n`, err: '' };
    for (const word of ['--version', '-v', 'version']) {
      expect(await result([word])).to.deep.equal(expected);
    }
  });

  for (const [line, problem] of [
    ['sevre', 'unknown command. Did you mean serve?'],
    ['--hlep', 'unknown option. Did you mean --help?'],
    ['toString', 'unknown command. See plant-store --help'],
    ['serve 3000', 'serve: unexpected argument 1. See plant-store --help'],
    ['import --form-line 3', 'import: unknown option. Did you mean --from-line?'],
    ['export a', 'export: unexpected argument 1. Redirect standard output instead'],
    ['serve -- --help', 'serve: unexpected argument 1. See plant-store --help'],
    ['export --after --limit', 'export: --after requires a value. See plant-store --help'],
    ...['0', '1e3', '1000000000000000'].map((it) => [
      `import --from-line ${it}`,
      'import: --from-line must be a whole number of 1 or more',
    ]),
    ['export --limit 0', 'export: --limit must be a whole number of 1 or more'],
    ...['', '1e3', '9223372036854775808'].map((it) => [
      `export --after ${it}`,
      'export: --after must be an id from -9223372036854775808 to 9223372036854775807',
    ]),
  ] as [string, string][]) {
    it(`refuses ${JSON.stringify(line)} with exit code 2, and names the problem`, async () => {
      const err = `plant-store: ${problem}\n`;
      expect(await result(line.split(' '))).to.deep.equal({ code: 2, out: '', err });
    });
  }
});

const SECRET = 's3cret';
const URI = `mongodb://u:${SECRET}@h`;
const TOKEN = `${SECRET}-${'t'.repeat(36)}`;

describe('A secret in the wrong place', () => {
  const client = { STORAGE: 'memory', ACCESS_TOKEN: 'a', ACCESS_TOKEN_SHA256: sha256('a') };
  for (const [line, env] of [
    ['serve', { MONGODB_URI_FILE: URI }],
    ['serve', { ACCESS_TOKENS_FILE: TOKEN }],
    ['serve', { CORS_ALLOWED_ORIGINS: `https://u:${SECRET}@x` }],
    ['serve', { PORT: `u:${SECRET}@h` }],
    ['serve', { HOST: URI, LOG_LEVEL: URI }],
    [`serve ${URI}`, {}],
    [`check ${TOKEN}`, {}],
    [`--${TOKEN}`, {}],
    [`import ${URI}`, client],
    [`import --from-line ${TOKEN}`, client],
    [`export --after ${TOKEN}`, client],
  ] as [string, Record<string, string>][]) {
    const variables = Object.keys(env === client ? {} : env);
    const given = variables.map((name) => `${name}=${env[name]}`);
    it(`is not printed: ${[...given, line].join(' ')}`, async () => {
      const { code, out, err } = await result(line.split(' '), env);
      expect(code).to.be.oneOf([1, 2]);
      expect(out + err).not.to.include(SECRET);
      for (const name of variables) expect(err).to.include(`${name}: `);
    });
  }
});

describe('plant-store check', () => {
  it('exits even if the connections of a store do not end', async () => {
    const check = new Command(['check'], { ACCESS_TOKEN_SHA256: sha256('a') });
    const exits: number[] = [];
    check.on('exit', (code) => exits.push(code));
    await check.ended;
    expect(exits).to.deep.equal([0]);
  });
});

/** Starts a service, and runs the command with the same settings. */
async function asked(env: Record<string, string>) {
  const { address } = await serveHere(env);
  const { code, out } = await result(['ready'], { ...env, PORT: new URL(address).port });
  return { code, body: JSON.parse(out) };
}

describe('plant-store ready', () => {
  afterEach(stopAll);

  it('exits with 0 when the service is ready, even if it listens on every address', async () => {
    expect(await asked({})).to.deep.equal({ code: 0, body: { status: 'ready' } });
    expect(await asked({ HOST: '0.0.0.0' })).to.include({ code: 0 });
    expect(urlOf('::', 3000)).to.equal('http://[::1]:3000');
    expect(urlOf('fd00::1', 3000)).to.equal('http://[fd00::1]:3000');
  });

  it('exits with 1 and prints the reason when the service is not ready', async () => {
    const { code, body } = await asked({ MONGODB_URI: 'mongodb://127.0.0.1:1' });
    expect([code, body.error]).to.deep.equal([1, 5030]);
    const PORT = `${await freePort()}`;
    const none = await result(['ready'], { PORT });
    expect(none.code).to.equal(1);
    const problem = `no response from 127.0.0.1:${PORT}: fetch failed (connect ECONNREFUSED`;
    expect(none.err.startsWith(`plant-store: ${problem}`), none.err).to.equal(true);
  });
});
