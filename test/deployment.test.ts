import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ACCESS_TOKEN_SHA256, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
/** In place of the addresses that are meant for a container. */
const FREE = { HOST: '127.0.0.1', PORT: '0', MANAGEMENT_HOST: '127.0.0.1', MANAGEMENT_PORT: '0' };
const PLANT_STORE = 'packages/app/bin/plant-store.js';

/** The table in docs/configuration.md, which is held equal to the service's own by another test. */
const documented = new Map(
  [...read('docs/configuration.md').matchAll(/^\| `([A-Z0-9_]+)` \| (.*?) \|/gm)].map(
    ([, name = '', fallback = '']) => [name, fallback.replaceAll('`', '')],
  ),
);

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

function instructions(name: string): string[] {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  return lines.flatMap((line) =>
    line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : [],
  );
}

describe('The Dockerfile', () => {
  const [entry] = instructions('ENTRYPOINT');
  const stages = read('Dockerfile').split(/^FROM /m);

  it('starts node itself, with a command that there is', () => {
    expect(JSON.parse(entry ?? '')).to.deep.equal(['node', PLANT_STORE]);
    expect(existsSync(`${root}${PLANT_STORE}`)).to.equal(true);
    expect(instructions('CMD')).to.deep.equal(['["serve"]']);
    expect(instructions('STOPSIGNAL')).to.deep.equal(['SIGTERM']);
  });

  it('checks the health with a command that there is', () => {
    const [, words = ''] = /CMD (\[.*\])/.exec(instructions('HEALTHCHECK').join()) ?? [];
    expect(JSON.parse(words)).to.deep.equal(['node', PLANT_STORE, 'ready']);
  });

  it('runs as a numbered user that is not root', () => {
    expect(instructions('USER').join()).to.match(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('sets variables that there are, and exposes the default port', () => {
    for (const [, name = ''] of instructions('ENV')
      .join(' ')
      .matchAll(/(\w+)=/g)) {
      expect([...documented.keys()]).to.include(name);
    }
    expect(instructions('EXPOSE')).to.deep.equal([documented.get('PORT')]);
  });

  it('builds what the start needs, and takes over what is there then', () => {
    expect(instructions('RUN').join()).to.include('tsc -b packages/app');
    expect(existsSync(`${root}packages/app/tsconfig.json`)).to.equal(true);
    const copied = [...(stages.at(-1) ?? '').matchAll(/^COPY --from=build \/app\/(\S+) /gm)];
    expect(copied).to.have.length(3);
    for (const [, path] of copied) expect(existsSync(`${root}${path}`), path).to.equal(true);
  });

  it('is given every package that the service is made of, and what the build reads', () => {
    const ignore = read('.dockerignore')
      .split('\n')
      .filter((line) => /^[^#]/.test(line));
    for (const line of ignore.filter((it) => it.startsWith('!'))) {
      expect(existsSync(`${root}${line.slice(1)}`), line).to.equal(true);
    }
    expect(ignore).to.include.members(['!package-lock.json', '!tsconfig.base.json', '!packages']);
    const left = readdirSync(`${root}packages`).filter((it) => !it.endsWith('-contract'));
    expect(left.map(nameOf)).to.have.members([...needed('plant-store')]);
  });

  it('runs on a Node.js that the service supports', () => {
    const [, major] = /^FROM node:(\d+)-/m.exec(read('Dockerfile')) ?? [];
    expect(Number(major)).to.be.at.least(20);
    expect(read('package.json')).to.include('"node": ">=20.19"');
  });

  function nameOf(folder: string): string {
    return JSON.parse(read(`packages/${folder}/package.json`)).name;
  }

  /** The packages of this project that a package needs in production, itself included. */
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

  it('sets variables that there are, and the service takes them', async () => {
    expect([...documented.keys()]).to.include.members(Object.keys(environment));
    const set = Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    const running = await serve({
      ...Object.fromEntries(set),
      ...FREE,
      MONGODB_URI: 'mongodb://127.0.0.1:1/plant-store?replicaSet=plants',
      ACCESS_TOKEN_SHA256,
    });
    expect(await running.stop()).to.equal(0);
  });

  it('leads to the default port, from this machine only', () => {
    expect(service.ports).to.deep.equal([`127.0.0.1:3000:${documented.get('PORT')}`]);
  });

  it('makes the replica set that the connection string names', () => {
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

  it('gives the service time to stop, and nothing to write to', () => {
    const grace = Number.parseInt(service.stop_grace_period, 10) * 1000;
    expect(grace).to.be.above(Number(documented.get('SHUTDOWN_TIMEOUT_MS')));
    expect(service).to.deep.include({ read_only: true, cap_drop: ['ALL'] });
  });
});

describe('The Kubernetes manifests', () => {
  afterEach(endAll);
  const folder = 'deploy/kubernetes/';
  const files = readdirSync(`${root}${folder}`);
  const { resources } = parse(read(`${folder}kustomization.yaml`));
  const deployment = parse(read(`${folder}deployment.yaml`));
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const variables: readonly Variable[] = container.env;
  const setTo = (name: string) =>
    variables.find((it) => it.name === name)?.value ?? documented.get(name) ?? '';
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  const ports = new Map<string, number>(
    container.ports.map((it: { name: string; containerPort: number }) => [
      it.name,
      it.containerPort,
    ]),
  );

  let temporary: string;
  before(() => {
    temporary = mkdtempSync(join(tmpdir(), 'plant-store-'));
    writeFileSync(join(temporary, 'tokens'), `${ACCESS_TOKEN_SHA256} nursery\n`);
  });
  after(() => rmSync(temporary, { recursive: true }));

  it('are all applied', () => {
    expect([...resources, 'kustomization.yaml']).to.have.members(files);
  });

  it('set variables that there are, to values that the service takes, with paths that it answers', async () => {
    expect([...documented.keys()]).to.include.members(variables.map(({ name }) => name));
    const given = variables.flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value]],
    );
    const running = await serve({
      ...Object.fromEntries(given),
      ...FREE,
      STORAGE: 'memory',
      ACCESS_TOKENS_FILE: join(temporary, 'tokens'),
      SHUTDOWN_DELAY_MS: '0',
    });
    for (const { httpGet } of probes) {
      const { status } = await fetch(`${running.management}${httpGet.path}`);
      expect(status, httpGet.path).to.equal(200);
    }
    expect(await running.stop()).to.equal(0);
  });

  it('name ports that the service listens on', () => {
    expect(ports.get('http')).to.equal(Number(setTo('PORT')));
    expect(ports.get('management')).to.equal(Number(setTo('MANAGEMENT_PORT')));
    for (const { httpGet } of probes) expect(httpGet.port).to.equal('management');
    const [port] = parse(read(`${folder}service.yaml`)).spec.ports;
    expect(port.targetPort).to.equal('http');
  });

  it('name a command that there is', () => {
    expect(container).not.to.have.property('command');
    const help = execFileSync(process.execPath, [`${root}${PLANT_STORE}`, '--help'], {
      encoding: 'utf8',
    });
    expect(help).to.match(new RegExp(`^ {2}${container.args.join(' ')} `, 'm'));
  });

  it('select the same pods', () => {
    const labels = deployment.spec.template.metadata.labels;
    expect(deployment.spec.selector.matchLabels).to.deep.equal(labels);
    expect(parse(read(`${folder}service.yaml`)).spec.selector).to.deep.equal(labels);
    const budget = parse(read(`${folder}pod-disruption-budget.yaml`));
    expect(budget.spec.selector.matchLabels).to.deep.equal(labels);
    expect(deployment.spec.replicas).to.be.above(budget.spec.maxUnavailable);
  });

  it('leave more time to stop than the service takes', () => {
    const most = Number(setTo('SHUTDOWN_DELAY_MS')) + Number(setTo('SHUTDOWN_TIMEOUT_MS'));
    expect(pod.terminationGracePeriodSeconds * 1000).to.be.above(most);
  });

  it('hold no secret, and mount the tokens where they are looked for', () => {
    const secrets = ['MONGODB_URI', 'ACCESS_TOKEN_SHA256'];
    for (const { name, value } of variables) {
      if (secrets.includes(name)) expect(value, name).to.equal(undefined);
    }
    const [mount] = container.volumeMounts;
    const volume = pod.volumes.find((it: { name: string }) => it.name === mount.name);
    expect(setTo('ACCESS_TOKENS_FILE')).to.equal(
      `${mount.mountPath}/${volume.secret.items[0].path}`,
    );
    const reference = variables.find(({ name }) => name === 'MONGODB_URI')?.valueFrom?.secretKeyRef;
    expect(volume.secret.secretName).to.equal(reference?.name);
    const operations = read('docs/operations.md');
    for (const key of [reference?.key, volume.secret.items[0].key])
      expect(operations).to.include(key);
  });

  it('let the service write nothing and be nobody', () => {
    expect(pod.securityContext).to.deep.include({ runAsNonRoot: true });
    expect(container.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).to.have.nested.property('limits.memory');
    expect(container.resources).to.have.nested.property('requests.cpu');
  });
});
