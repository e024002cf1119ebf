import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { endAll, run, sha256 } from '@plant-store/service-process';
import { expect } from 'chai';

const manifest = new URL('../../package.json', import.meta.url);
const ADDRESS = /http:\/\/127\.0\.0\.1:[1-9][0-9]*/;

const tokenIn = (line = '') => /Bearer (\S+)'/.exec(line)?.[1];

describe('The plant-store command', () => {
  afterEach(endAll);

  it('without configuration prints address, docs page, storage, token and a line that creates a plant', async () => {
    const service = run([], { PORT: '0' });
    await service.printed(/^curl .*\n/m);
    const lines = service.stdout().trimEnd().split('\n');
    expect(lines).to.have.length(6);
    expect(lines[0]).to.match(/^Plant Store .* listens on http:\/\/127\.0\.0\.1:[1-9][0-9]*$/);
    expect(lines[1]).to.match(/^Docs: http:\/\/127\.0\.0\.1:[1-9][0-9]*\/docs$/);
    expect(lines[2]).to.equal('Storage: memory (plants are lost when the process ends)');
    expect(lines[3]).to.match(
      /^Token: \S{43,} \(for this run only; set ACCESS_TOKEN_SHA256 to use your own\)$/,
    );
    expect(lines[4]).to.equal('Create a plant:');
    const { stdout } = await promisify(execFile)('bash', ['-c', lines[5] ?? '']);
    expect(stdout).to.equal('{"name":"Monstera deliciosa","tag":"tropical"}');
    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(0);
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`serves with a configured token and ends with 0 on ${signal}`, async () => {
      const service = run(['serve'], { PORT: '0', ACCESS_TOKEN_SHA256: sha256('secret') });
      const [address] = await service.printed(ADDRESS);
      const response = await fetch(`${address}/plants`, {
        method: 'POST',
        headers: { Authorization: 'Bearer secret', 'Content-Type': 'application/json' },
        body: '{"id":1,"name":"Monstera"}',
      });
      expect(response.status).to.equal(200);
      service.child.kill(signal);
      expect(await service.ended).to.equal(0);
      expect(service.stdout() + service.stderr()).not.to.include('secret');
    });
  }

  it('serves below BASE_PATH, and without docs if they are off, and prints so', async () => {
    const services = [1, 2].map(() => run([], { PORT: '0', BASE_PATH: '/store', DOCS: 'off' }));
    const [service] = services;
    const [[line = ''] = [], [another] = []] = await Promise.all(
      services.map((it) => it.printed(/^curl .*$/m)),
    );
    expect(line).to.match(/:[0-9]+\/store\/plants /);
    const { stdout } = await promisify(execFile)('bash', ['-c', line]);
    expect(stdout).to.include('Monstera');
    expect(service?.stdout()).not.to.include('Docs:');
    const [address] = ADDRESS.exec(line) ?? [];
    expect((await fetch(`${address}/store/docs`)).status).to.equal(404);
    expect(tokenIn(line), 'a new token for each run').not.to.equal(tokenIn(another));
  });

  it('prints one line that its port is taken, and ends with 1, whatever else is open', async () => {
    const first = run([], { PORT: '0' });
    const [address] = await first.printed(ADDRESS);
    const others = { MANAGEMENT_PORT: '0', MONGODB_URI: 'mongodb://127.0.0.1:1' };
    const second = run([], { PORT: new URL(address).port, ...others });
    expect(await second.ended).to.equal(1);
    expect(second.stderr()).to.match(
      /^plant-store: HOST, PORT: cannot listen on .*EADDRINUSE.*\n$/,
    );
  });

  it('prints one line that the port of the management listener is taken, and ends with 1', async () => {
    const first = run([], { PORT: '0' });
    const [address] = await first.printed(ADDRESS);
    const second = run([], { PORT: '0', MANAGEMENT_PORT: new URL(address).port });
    expect(await second.ended).to.equal(1);
    expect(second.stderr()).to.match(
      /^plant-store: MANAGEMENT_HOST, MANAGEMENT_PORT: cannot .*\n$/,
    );
  });

  it('reports every problem of the configuration at once, opens nothing, and ends with 2', async () => {
    const invalid = run([], { PORT: 'many', BODY_LIMIT: '', POTR: '1' });
    expect(await invalid.ended).to.equal(2);
    expect(invalid.stdout()).to.equal('');
    for (const variable of ['PORT', 'BODY_LIMIT', 'POTR']) {
      expect(invalid.stderr()).to.match(new RegExp(`^  ${variable}: .+`, 'm'));
    }
  });

  it('prints a new token and its digest', async () => {
    const command = run(['token']);
    expect(await command.ended).to.equal(0);
    const [token = '', digest, ...rest] = command.stdout().split('\n');
    expect(token).to.match(/^\S{43,}$/);
    expect(digest).to.equal(sha256(token));
    expect(rest).to.deep.equal(['']);
  });

  it('prints the interface description, also when the service would not start', async () => {
    const command = run(['openapi'], { NODE_ENV: 'production', BASE_PATH: '/store/v1' });
    expect(await command.ended).to.equal(0);
    expect(command.stdout()).to.match(/^\{\n {2}"openapi": /);
    const description = JSON.parse(command.stdout());
    expect(description.openapi).to.equal('3.1.0');
    expect(description.servers[0].url).to.equal('/store/v1');
  });

  it('refuses an invalid base path of the interface description with 2', async () => {
    const command = run(['openapi'], { BASE_PATH: 'store/' });
    expect(await command.ended).to.equal(2);
    expect(command.stdout()).to.equal('');
    expect(command.stderr()).to.match(/BASE_PATH: expected/);
  });

  it('prints its version', async () => {
    const command = run(['--version']);
    expect(await command.ended).to.equal(0);
    expect(command.stdout()).to.equal(`${JSON.parse(readFileSync(manifest, 'utf8')).version}\n`);
  });

  for (const [word, hint] of [
    ['sevre', "unknown command 'sevre'. Did you mean serve?"],
    ['--hlep', "unknown option '--hlep'. Did you mean --help?"],
    ['bake', "unknown command 'bake'. See plant-store --help"],
    ['toString', "unknown command 'toString'. See plant-store --help"],
  ]) {
    it(`refuses '${word}' with 2 and suggests a similar command`, async () => {
      const command = run([word ?? '']);
      expect(await command.ended).to.equal(2);
      expect(command.stderr()).to.equal(`plant-store: ${hint}\n`);
    });
  }

  it('refuses an unexpected argument with 2, and names it', async () => {
    const command = run(['serve', '--help']);
    expect(await command.ended).to.equal(2);
    expect(command.stderr()).to.equal(
      "plant-store: 'serve' takes no argument, found '--help'. See plant-store --help\n",
    );
  });
});
