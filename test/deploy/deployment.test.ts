import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, skipWithout } from '@plant-store/programs';
import { ACCESS_TOKEN_SHA256, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { parse } from 'yaml';
import { root } from '../root.js';
import {
  documentedDefaults,
  FREE_ADDRESSES,
  longestStop,
  STOP_MARGIN_MS,
} from './support/documented-settings.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const PLANT_STORE = 'packages/app/bin/plant-store.js';

function instructions(name: string): string[] {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  return lines.flatMap((line) =>
    line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : [],
  );
}

describe('The Dockerfile', () => {
  const [entry] = instructions('ENTRYPOINT');
  const stages = read('Dockerfile').split(/^FROM /m);

  it('starts node itself, with a command that exists', () => {
    expect(JSON.parse(entry ?? '')).to.deep.equal(['node', PLANT_STORE]);
    expect(existsSync(join(root, PLANT_STORE))).to.equal(true);
    expect(instructions('CMD')).to.deep.equal(['["serve"]']);
    expect(instructions('STOPSIGNAL')).to.deep.equal(['SIGTERM']);
  });

  it('checks the health with a command that exists', () => {
    const [, words = ''] = /CMD (\[.*\])/.exec(instructions('HEALTHCHECK').join()) ?? [];
    expect(JSON.parse(words)).to.deep.equal(['node', PLANT_STORE, 'ready']);
  });

  it('runs as a user that is not root, by its number', () => {
    expect(instructions('USER').join()).to.match(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('sets variables that exist, and exposes the default port', () => {
    for (const [, name = ''] of instructions('ENV')
      .join(' ')
      .matchAll(/(\w+)=/g)) {
      expect([...documentedDefaults.keys(), 'PATH']).to.include(name);
    }
    expect(instructions('EXPOSE')).to.deep.equal([documentedDefaults.get('PORT')]);
  });

  it('builds and copies everything that the start needs', () => {
    expect(instructions('RUN').join()).to.include('tsc -b packages/app');
    expect(existsSync(join(root, 'packages/app/tsconfig.json'))).to.equal(true);
    const copied = [...(stages.at(-1) ?? '').matchAll(/^COPY --from=build \/app\/(\S+) /gm)];
    expect(copied).to.have.length(3);
    for (const [, path = ''] of copied) expect(existsSync(join(root, path)), path).to.equal(true);
  });

  it('gets every package of the service, and every file of the build', () => {
    const ignore = read('.dockerignore')
      .split('\n')
      .filter((line) => /^[^#]/.test(line));
    for (const line of ignore.filter((it) => it.startsWith('!'))) {
      expect(existsSync(join(root, line.slice(1))), line).to.equal(true);
    }
    expect(ignore).to.include.members(['!package-lock.json', '!tsconfig.base.json', '!packages']);
    const left = readdirSync(join(root, 'packages')).filter(
      (it) => !/-contract$|^contract-suite$/.test(it),
    );
    expect(left.map(nameOf)).to.have.members([...needed('plant-store')]);
  });

  it('uses a version of Node.js that the service supports', () => {
    const [, major] = /^FROM node:(\d+)-/m.exec(read('Dockerfile')) ?? [];
    expect(Number(major)).to.be.at.least(20);
    expect(read('package.json')).to.include('"node": ">=20.19"');
  });

  function nameOf(folder: string): string {
    return JSON.parse(read(`packages/${folder}/package.json`)).name;
  }

  /** Returns the packages of this project that a package needs in production, including itself. */
  function needed(name: string, found = new Set<string>()): Set<string> {
    found.add(name);
    const folder = name === 'plant-store' ? 'app' : name.replace('@plant-store/', '');
    const { dependencies = {} } = JSON.parse(read(`packages/${folder}/package.json`));
    for (const dependency of Object.keys(dependencies)) {
      if (dependency.startsWith('@plant-store/')) needed(dependency, found);
    }
    return found;
  }
});

describe('The compose file', () => {
  afterEach(endAll);
  const { services } = parse(read('compose.yaml'));
  const service = services['plant-store'];
  const environment: Record<string, string | null> = service.environment;

  it('sets variables that exist, with values that the service accepts', async () => {
    expect([...documentedDefaults.keys()]).to.include.members(Object.keys(environment));
    const set = Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    const running = await serve({
      ...Object.fromEntries(set),
      ...FREE_ADDRESSES,
      MONGODB_URI: 'mongodb://127.0.0.1:1/plant-store?replicaSet=plants',
      ACCESS_TOKEN_SHA256,
    });
    expect(await running.stop()).to.equal(0);
  });

  it('starts the version of MongoDB that the tests use', () => {
    const [, tested] = /The tests use MongoDB (\d+\.\d+)/.exec(read('docs/not-tried.md')) ?? [];
    expect(services.mongodb.image).to.equal(`mongo:${tested}`);
  });

  it('publishes the default port, on this machine only', () => {
    expect(service.ports).to.deep.equal([`127.0.0.1:3000:${documentedDefaults.get('PORT')}`]);
  });

  it('creates the replica set of the connection string', () => {
    const uri = new URL(environment.MONGODB_URI ?? '');
    expect(services).to.have.property(uri.hostname);
    const set = uri.searchParams.get('replicaSet');
    expect(services.mongodb.command.join(' ')).to.include(`--replSet ${set} `);
    const [kind, shell, , , script] = services.mongodb.healthcheck.test;
    expect([kind, shell]).to.deep.equal(['CMD', 'mongosh']);
    expect(script).to.include(`_id: '${set}'`).and.to.include(`host: '${uri.host}'`);
    expect(() => new Function(script)).not.to.throw();
    expect(service.depends_on.mongodb.condition).to.equal('service_healthy');
  });

  it('limits the log, to which clients without a token can add lines', () => {
    expect(service.logging).to.deep.equal({
      driver: 'json-file',
      options: { 'max-size': '10m', 'max-file': '5' },
    });
  });

  it('gives the service enough time to stop, and a read-only file system', () => {
    const grace = Number.parseInt(service.stop_grace_period, 10) * 1000;
    expect(grace).to.be.at.least(longestStop({}) + STOP_MARGIN_MS);
    expect(service).to.deep.include({ read_only: true, cap_drop: ['ALL'] });
  });
});

describe('The default time to stop', () => {
  const ms = (name: string) => Number(documentedDefaults.get(name));

  it('is enough for a request that began to arrive before the signal', () => {
    const lateness = 1000;
    const longest = ms('REQUEST_TIMEOUT_MS') + lateness + ms('REQUEST_DEADLINE_MS');
    expect(ms('SHUTDOWN_TIMEOUT_MS')).to.be.at.least(longest);
  });

  it('is that of docs/operations.md and of the commands for containers', () => {
    const operations = read('docs/operations.md');
    expect(operations).to.include(
      `\`REQUEST_DEADLINE_MS\` together: ${longestStop({}) / 1000} s by default`,
    );
    const grace = (longestStop({}) + STOP_MARGIN_MS) / 1000;
    expect(operations).to.include(`--stop-timeout ${grace} `);
    expect(read('.github/workflows/ci.yml')).to.include(`docker stop --time ${grace} `);
  });
});

describe('The unit of systemd', () => {
  const unit = read('deploy/systemd/plant-store.service');
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  it('starts a command that exists, and passes systemd-analyze verify', function () {
    const path = findProgram('systemd-analyze');
    const [start = ''] = values('ExecStart');
    expect(start.split(' ')).to.deep.equal([
      '/usr/bin/node',
      `/opt/plant-store/${PLANT_STORE}`,
      'serve',
    ]);
    if (path === undefined) skipWithout(this, 'no systemd-analyze');
    const folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
    const file = join(folder, 'plant-store.service');
    const here = unit
      .replaceAll('/opt/plant-store', root)
      .replace('/usr/bin/node', process.execPath);
    writeFileSync(file, here);
    const { status, stderr } = spawnSync(path, ['verify', '--man=no', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([status, stderr]).to.deep.equal([0, '']);
  });

  it('sets variables that exist, or files of secrets', () => {
    const names = values('Environment')
      .join(' ')
      .matchAll(/([A-Z0-9_]+)=/g);
    for (const [, name = ''] of names) {
      const known = [...documentedDefaults.keys()];
      expect([...known, ...known.map((it) => `${it}_FILE`)]).to.include(name);
    }
  });

  it('gives the service enough time to stop, and enough files', () => {
    const [stop] = values('TimeoutStopSec');
    expect(Number(stop) * 1000).to.be.at.least(longestStop({}) + STOP_MARGIN_MS);
    const [files] = values('LimitNOFILE');
    expect(Number(files)).to.be.above(Number(documentedDefaults.get('MAX_CONNECTIONS')));
  });
});
