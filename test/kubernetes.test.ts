import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CertificateFolder } from '@plant-store/certificates';
import {
  ACCESS_TOKEN_SHA256,
  command,
  createPlant,
  endAll,
  serve,
} from '@plant-store/service-process';
import { expect } from 'chai';
import { type parse, parseAllDocuments } from 'yaml';
import { type Checker, findChecker } from './checkers.js';
import {
  documentedDefaults,
  FREE_ADDRESSES,
  longestStop,
  STOP_MARGIN_MS,
} from './documented-settings.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'deploy/kubernetes');
const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const WITH_COMPONENTS = ' with every component';
const OVERLAYS = readdirSync(join(folder, 'overlays'));
const LABELS = { 'app.kubernetes.io/name': 'plant-store' };
/** A variable of Node.js, not of the service. */
const OF_NODE = 'NODE_EXTRA_CA_CERTS';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName: string;
    readonly items: { key: string; path: string }[];
  };
  readonly configMap?: { readonly name: string; readonly items: { key: string; path: string }[] };
}
interface Container {
  readonly args: string[];
  readonly env: Variable[];
  readonly ports: { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly volumeMounts?: { readonly name: string; readonly mountPath: string }[];
}
interface Pod {
  readonly containers: [Container];
  readonly volumes?: Volume[];
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
}

/** The resources that an overlay builds, by kind. */
class Built {
  readonly text: string;
  // kubernetes-validate checks the types of these.
  readonly #resources: ReadonlyMap<string, { spec: ReturnType<typeof parse> }>;

  constructor(text: string) {
    this.text = text;
    const resources = parseAllDocuments(text).map((document) => document.toJS());
    this.#resources = new Map(resources.map((it) => [it.kind, it]));
  }

  spec(kind: string) {
    return this.#resources.get(kind)?.spec;
  }

  get kinds(): string[] {
    return [...this.#resources.keys()];
  }

  get pod(): Pod {
    return this.spec('Deployment').template.spec;
  }

  get container(): Container {
    return this.pod.containers[0];
  }

  /** The variables whose values are in the manifest. */
  get environment(): Record<string, string> {
    const set = this.container.env.flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value]],
    );
    return Object.fromEntries(set);
  }
}

describe('The Kubernetes manifests', function () {
  this.timeout(60_000);
  let kubectl: Checker;
  let validate: Checker;
  let copy: string;
  let issuer: Server | undefined;

  const built = new Map<string, Built>();
  const of = (title: string): Built => {
    const it = built.get(title);
    if (it === undefined) throw new Error(`${title} was not built`);
    return it;
  };

  before(async function () {
    kubectl = findChecker(this, 'kubectl');
    validate = findChecker(this, 'kubernetes-validate');
    copy = mkdtempSync(join(tmpdir(), 'plant-store-'));
    cpSync(folder, copy, { recursive: true });
    for (const overlay of OVERLAYS) {
      takeComponents(join(copy, 'overlays', overlay, 'kustomization.yaml'));
      built.set(overlay, await build(folder, overlay));
      built.set(`${overlay}${WITH_COMPONENTS}`, await build(copy, overlay));
    }
  });
  afterEach(() => {
    endAll();
    issuer?.close();
  });
  after(() => copy && rmSync(copy, { recursive: true }));

  async function build(place: string, overlay: string): Promise<Built> {
    const { passed, stdout, stderr } = await kubectl('kustomize', join(place, 'overlays', overlay));
    expect(stderr).to.equal('');
    expect(passed).to.equal(true);
    return new Built(stdout);
  }

  for (const overlay of OVERLAYS) {
    for (const title of [overlay, `${overlay}${WITH_COMPONENTS}`]) {
      it(`${title} is valid for Kubernetes`, async () => {
        const file = join(copy, 'built.yaml');
        writeFileSync(file, of(title).text);
        const { passed, stdout, stderr } = await validate('--strict', file);
        expect(stdout + stderr).not.to.include('ERROR');
        expect(passed).to.equal(true);
        const unknown = [...`${stdout}${stderr}`.matchAll(/WARN.*for kind (\w+)/g)];
        for (const [, kind] of unknown) expect(kind).to.equal('PodMonitor');
      });

      it(`${title} names ports, commands and variables that exist`, async () => {
        const { container, environment } = of(title);
        const ports = new Map(container.ports.map((it) => [it.name, it.containerPort]));
        expect(ports.get('http')).to.equal(Number(environment.PORT));
        expect(ports.get('management')).to.equal(Number(environment.MANAGEMENT_PORT));
        for (const { httpGet } of probesOf(container)) expect(httpGet.port).to.equal('management');
        expect(of(title).spec('Service').ports[0].targetPort).to.equal('http');
        const names = container.env.map(({ name }) => name);
        expect([...documentedDefaults.keys(), OF_NODE]).to.include.members(names);
        expect(container).not.to.have.property('command');
        const help = execFileSync(process.execPath, [command, '--help'], { encoding: 'utf8' });
        expect(help).to.match(new RegExp(`^ {2}${container.args.join(' ')} `, 'm'));
      });

      it(`${title} selects the same pods`, async () => {
        const it = of(title);
        const { selector, template, replicas } = it.spec('Deployment');
        expect(template.metadata.labels).to.deep.equal(LABELS);
        expect(selector.matchLabels).to.deep.equal(LABELS);
        expect(it.spec('Service').selector).to.deep.equal(LABELS);
        expect(it.spec('NetworkPolicy').podSelector.matchLabels).to.deep.equal(LABELS);
        const budget = it.spec('PodDisruptionBudget');
        expect(budget.selector.matchLabels).to.deep.equal(LABELS);
        expect(replicas).to.be.above(budget.maxUnavailable);
      });

      it(`${title} gives the service more time to stop than it needs`, async () => {
        const { pod, environment } = of(title);
        const longest = longestStop(environment) + STOP_MARGIN_MS;
        expect(pod.terminationGracePeriodSeconds * 1000).to.be.at.least(longest);
      });

      it(`${title} lets only Prometheus reach the management port`, async () => {
        const { policyTypes, ingress } = of(title).spec('NetworkPolicy');
        expect(policyTypes).to.deep.equal(['Ingress']);
        const monitoring = { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } };
        expect(ingress).to.deep.equal([
          { ports: [{ port: 'http' }] },
          { from: [{ namespaceSelector: monitoring }], ports: [{ port: 'management' }] },
        ]);
      });

      it(`${title} contains no secret, and mounts each file where the service reads it`, async () => {
        const { pod, container, environment } = of(title);
        const secrets = ['MONGODB_URI', 'ACCESS_TOKEN_SHA256'];
        expect(environment).not.to.have.any.keys(...secrets);
        const paths = (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
          const volume = pod.volumes?.find((it) => it.name === name);
          const items = volume?.secret?.items ?? volume?.configMap?.items ?? [];
          return items.map(({ path }) => `${mountPath}/${path}`);
        });
        const files = [environment.ACCESS_TOKENS_FILE, environment[OF_NODE]];
        expect(paths).to.have.members(files.filter((it) => it !== undefined));
      });

      it(`${title} refers to secrets and files that docs/operations.md creates`, async () => {
        const { pod, container } = of(title);
        for (const { valueFrom } of container.env) {
          if (valueFrom === undefined) continue;
          const { name, key } = valueFrom.secretKeyRef;
          expect(operations).to.match(new RegExp(`secret generic ${name} [^;]*=${key}=`));
        }
        for (const { secret, configMap } of pod.volumes ?? []) {
          const kind = secret
            ? `secret generic ${secret.secretName}`
            : `configmap ${configMap?.name}`;
          for (const { key } of secret?.items ?? configMap?.items ?? []) {
            expect(operations).to.match(new RegExp(`${kind} [^;]*--from-file=${key}=`));
          }
        }
      });

      it(`${title} runs the service without root and with a read-only file system`, async () => {
        const { pod, container } = of(title);
        expect(pod.securityContext).to.deep.include({ runAsNonRoot: true });
        expect(container)
          .to.have.property('securityContext')
          .that.deep.equals({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
        expect(container).to.have.nested.property('resources.limits.memory');
        expect(container).to.have.nested.property('resources.requests.cpu');
      });
    }

    it(`${overlay} is applied in docs/operations.md`, () => {
      expect(operations).to.include(`kubectl apply -k deploy/kubernetes/overlays/${overlay}\n`);
    });
  }

  it('static-tokens has valid settings, with which the service creates a plant', async () => {
    const { environment, container } = of('static-tokens');
    const tokens = join(copy, 'tokens');
    writeFileSync(tokens, `${ACCESS_TOKEN_SHA256} nursery\n`);
    const service = await start(environment, { ACCESS_TOKENS_FILE: tokens });
    await expectReady(service.management, container);
    expect((await createPlant(service.address, 1)).status).to.equal(200);
    expect(await service.stop()).to.equal(0);
  });

  it('oidc with private-ca has valid settings, with which the service trusts an issuer of that authority', async () => {
    const { environment, container } = of(`oidc${WITH_COMPONENTS}`);
    const certificates = await CertificateFolder.create();
    issuer = await issuerOf(certificates);
    const { port } = issuer.address() as AddressInfo;
    const iss = `https://127.0.0.1:${port}`;
    const service = await start(environment, {
      JWT_ISSUER: iss,
      [OF_NODE]: certificates.authority,
    });
    await expectReady(service.management, container);
    const { JWT_AUDIENCE: aud, JWT_SCOPE: scope } = environment;
    const token = accessToken({ iss, aud, scope });
    expect((await createPlant(service.address, 1, 'Monstera', token)).status).to.equal(200);
    expect(await service.stop()).to.equal(0);
  });

  it('have no file that is not applied', async () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((it) =>
      it.endsWith('.yaml'),
    );
    const unused = files.filter((file) => {
      const [name = '', ...path] = file.split('/').reverse();
      if (name === 'kustomization.yaml') return false;
      const list = readFileSync(join(folder, ...path.reverse(), 'kustomization.yaml'), 'utf8');
      return !new RegExp(`^ +- (?:path: )?${name}$`, 'm').test(list);
    });
    expect(files).to.have.length.above(6);
    expect(unused).to.deep.equal([]);
  });

  it('with an unknown field are refused by the check', async () => {
    const file = join(copy, 'base/deployment.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('replicas:', 'replica:'));
    const { passed, stdout, stderr } = await validate('--strict', file);
    expect(passed).to.equal(false);
    expect(stdout + stderr).to.include("'replica' was unexpected");
  });

  it('have a PodMonitor with the job that the alerts select', async () => {
    const monitor = of(`oidc${WITH_COMPONENTS}`).spec('PodMonitor');
    expect(LABELS).to.have.property(monitor.jobLabel, 'plant-store');
    expect(monitor.selector.matchLabels).to.deep.equal(LABELS);
    expect(monitor.podMetricsEndpoints).to.deep.equal([{ port: 'management', path: '/metrics' }]);
  });
});

/** Activates all components that are commented out in an overlay. */
function takeComponents(file: string): void {
  const text = readFileSync(file, 'utf8');
  const components = readdirSync(join(folder, 'components'));
  for (const it of components) expect(text).to.include(`#   - ../../components/${it}\n`);
  const commented = /^# components:\n(?:# {3}- .*\n)+/m;
  writeFileSync(
    file,
    text.replace(commented, (lines) => lines.replaceAll('# ', '')),
  );
}

function probesOf({ startupProbe, livenessProbe, readinessProbe }: Container): Probe[] {
  return [startupProbe, livenessProbe, readinessProbe];
}

/** Starts the service like a pod, but on loopback, with plants in memory and with files of this machine. */
function start(environment: Record<string, string>, ofThisMachine: Record<string, string>) {
  expect(environment).to.include.keys(...Object.keys(ofThisMachine));
  return serve({
    ...environment,
    ...FREE_ADDRESSES,
    ...ofThisMachine,
    STORAGE: 'memory',
    SHUTDOWN_DELAY_MS: '0',
  });
}

async function expectReady(management: string | undefined, container: Container): Promise<void> {
  for (const { httpGet } of probesOf(container)) {
    const { status } = await fetch(`${management}${httpGet.path}`);
    expect(status, httpGet.path).to.equal(200);
  }
}

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Starts an issuer with https and one key. */
async function issuerOf(certificates: CertificateFolder): Promise<Server> {
  const file = await certificates.issue('issuer.pem', {
    subject: 'CN=x',
    addresses: ['127.0.0.1'],
  });
  const pem = readFileSync(file);
  const keys = [{ ...KEY.publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256', use: 'sig' }];
  const server = createServer({ cert: pem, key: pem }, (request, response) => {
    const issuer = `https://${request.headers.host}`;
    const metadata = { issuer, jwks_uri: `${issuer}/keys` };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(request.url === '/keys' ? { keys } : metadata));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Returns a valid access token (RFC 9068) of the issuer. */
function accessToken(claims: object): string {
  const now = Math.trunc(Date.now() / 1000);
  const header = { typ: 'at+jwt', alg: 'ES256', kid: 'a' };
  const payload = { ...claims, sub: 'x', client_id: 'x', jti: 'x', iat: now, exp: now + 600 };
  const text = [header, payload]
    .map((it) => Buffer.from(JSON.stringify(it)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(text), {
    key: KEY.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return `${text}.${signature.toString('base64url')}`;
}
