import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCESS_TOKEN_SHA256, ownProcesses } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { parse } from 'yaml';
import { withReal } from '../../test/documents/support/snippet.js';
import { read, root, temporaryFolder } from '../../test/support/root.js';
import { findChecker } from './support/checkers.js';
import { documentedDefaults, FREE_ADDRESSES, gracePeriod } from './support/documented-settings.js';

const { endAll, serve } = ownProcesses();

/** Settings that exist, and the names of the files that they can be read from. */
const KNOWN = [...documentedDefaults.keys()].flatMap((it) => [it, `${it}_FILE`]);

describe('Every deployment', () => {
  it('runs in production mode, so that no token is generated and printed', () => {
    const [, image] =
      /^FROM node(?:(?!\nFROM)[\s\S])*\nENV NODE_ENV=(\S+)/m.exec(read('Dockerfile')) ?? [];
    const [, unit] =
      /^Environment=NODE_ENV=(\S+)/m.exec(read('deploy/systemd/plant-store.service')) ?? [];
    const { spec } = parse(read('deploy/kubernetes/base/deployment.yaml')).spec.template;
    expect([image, unit]).to.deep.equal(['production', 'production']);
    expect(spec.containers[0].env).to.deep.include({ name: 'NODE_ENV', value: 'production' });
  });
});

describe('The memory limit in Kubernetes', () => {
  it('is enough for the connections and operations that it allows, by the figures of the docs', () => {
    const [, base, direct] =
      /^- (\d+) MiB for the process.*\n.*, or (\d+) MiB without one$/m.exec(
        read('docs/deploying.md'),
      ) ?? [];
    const [, slow] = /\(`MAX_IN_FLIGHT`\):.*, or (\d+) MiB/.exec(read('docs/deploying.md')) ?? [];
    expect([base, direct, slow], 'the figures of the page').not.to.include(undefined);
    const [{ env, resources }] = parse(read('deploy/kubernetes/base/deployment.yaml')).spec.template
      .spec.containers;
    const set = new Map(env.map((it: { name: string; value: string }) => [it.name, it.value]));
    const thousands = (name: string) =>
      Number(set.get(name) ?? documentedDefaults.get(name)) / 1_000;
    const needed =
      Number(base) +
      thousands('MAX_CONNECTIONS') * Number(direct) +
      thousands('MAX_IN_FLIGHT') * Number(slow);
    expect(Number.parseInt(resources.limits.memory, 10)).to.be.at.least(needed);
  });
});

describe('The compose file', () => {
  afterEach(endAll);
  const { services } = parse(read('compose.yaml'));
  const service = services['plant-store'];
  const environment: Record<string, string> = service.environment;

  it('sets variables that exist, with values that the service accepts', async () => {
    expect(KNOWN).to.include.members(Object.keys(environment));
    const running = await serve({
      ...environment,
      ...FREE_ADDRESSES,
      MONGODB_URI: 'mongodb://127.0.0.1:1/plant-store?replicaSet=plants',
      ACCESS_TOKEN_SHA256,
    });
    expect(await running.stop()).to.equal(0);
  });

  it('starts the tested MongoDB version, and publishes the port on loopback only', () => {
    const [, tested] = /The tests use MongoDB (\d+\.\d+)/.exec(read('docs/evidence.md')) ?? [];
    expect(services.mongodb.image).to.equal(`mongo:${tested}`);
    expect(service.ports).to.deep.equal([`127.0.0.1:3000:${documentedDefaults.get('PORT')}`]);
  });

  it('creates the replica set that the connection string names', () => {
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

  it('gives the service time to stop, limits its logs, and makes its files read-only', () => {
    expect(Number.parseInt(service.stop_grace_period, 10)).to.be.at.least(gracePeriod());
    expect(service).to.deep.include({ read_only: true, cap_drop: ['ALL'] });
    // Clients without a token can add lines.
    const options = { 'max-size': '10m', 'max-file': '5' };
    expect(service.logging).to.deep.equal({ driver: 'json-file', options });
  });
});

describe('The systemd unit', () => {
  const unit = read('deploy/systemd/plant-store.service');
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  it('starts a command that exists, and passes systemd-analyze verify', async function () {
    const command =
      '/usr/bin/node --max-semi-space-size=32 /opt/plant-store/packages/production/service/bin/plant-store.js serve';
    expect(values('ExecStart')).to.deep.equal([command]);
    const analyze = findChecker(this, 'systemd-analyze');
    const folder = temporaryFolder();
    const [file, checkout] = [join(folder, 'plant-store.service'), join(folder, 'plant-store')];
    // The path of the checkout may have a space.
    symlinkSync(root, checkout);
    const here = { '/opt/plant-store': checkout, '/usr/bin/node': process.execPath };
    writeFileSync(file, withReal(unit, here));
    expect((await analyze('verify', '--man=no', file)).stderr).to.equal('');
  });

  it('sets variables that exist, and allows enough time to stop and enough open files', () => {
    const set = values('Environment')
      .join(' ')
      .matchAll(/([A-Z0-9_]+)=/g);
    expect(KNOWN).to.include.members([...set].map(([, name]) => name));
    const [stop] = values('TimeoutStopSec');
    expect(Number(stop)).to.be.at.least(gracePeriod());
    const [files] = values('LimitNOFILE');
    expect(Number(files)).to.be.above(Number(documentedDefaults.get('MAX_CONNECTIONS')));
  });
});
