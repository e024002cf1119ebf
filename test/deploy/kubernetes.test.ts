import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateFolder } from '@plant-store/certificates';
import {
  ACCESS_TOKEN_SHA256,
  command,
  createPlant,
  endAll,
  type Service,
  serve,
} from '@plant-store/service-process';
import { expect } from 'chai';
import { type parse, parseAllDocuments } from 'yaml';
import { root } from '../root.js';
import { type Checker, findChecker } from './support/checkers.js';
import {
  documentedDefaults,
  FREE_ADDRESSES,
  longestStop,
  STOP_MARGIN_MS,
} from './support/documented-settings.js';

const folder = join(root, 'deploy/kubernetes');
const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const WITH_COMPONENTS = ' with every component';
const OVERLAYS = readdirSync(join(folder, 'overlays'));
const COMPONENTS = readdirSync(join(folder, 'components'));
const LABELS = { 'app.kubernetes.io/name': 'plant-store' };
const REGISTRY = 'registry.example.com';
/** The edits of issuer.yaml. */
const ISSUER = {
  'value: https://login.example.com/realms/plants': 'value: https://id.example.com',
  'value: plant-store\n': 'value: plants\n',
  'value: plants:create': 'value: plants:write',
};
/** A variable of Node.js, not of the service. */
const OF_NODE = 'NODE_EXTRA_CA_CERTS';

interface Variable {
  readonly name: string;
  readonly value?: string;
}
interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName: string;
    readonly items: { key: string; path: string }[];
  };
  readonly configMap?: { readonly name: string; readonly items: { key: string; path: string }[] };
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly args: string[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly env: Variable[];
  readonly ports: { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: { readonly name: string; readonly mountPath: string }[];
}
interface PodSpec {
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
    this.#resources = new Map(resources.map((it) => [`${it.kind} ${it.metadata.name}`, it]));
  }

  spec(kind: string, name = 'plant-store') {
    return this.#resources.get(`${kind} ${name}`)?.spec;
  }

  get pod(): PodSpec {
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
  let help: string;
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
    help = execFileSync(process.execPath, [command, '--help'], { encoding: 'utf8' });
    for (const overlay of OVERLAYS) {
      built.set(overlay, await follow(overlay, []));
      built.set(`${overlay}${WITH_COMPONENTS}`, await follow(overlay, COMPONENTS));
    }
  });
  afterEach(() => {
    endAll();
    issuer?.close();
  });
  after(() => copy && rmSync(copy, { recursive: true }));

  /** Edits a copy of the manifests as docs/operations.md describes it, and builds the overlay. */
  async function follow(overlay: string, components: readonly string[]): Promise<Built> {
    const place = mkdtempSync(join(copy, `${overlay}-`));
    cpSync(folder, place, { recursive: true });
    edit(join(place, 'base/kustomization.yaml'), {
      'newName: plant-store': `newName: ${REGISTRY}/plant-store`,
      'newTag: 1.1.0-dev': 'newTag: of-the-image',
    });
    edit(
      join(place, 'overlays', overlay, 'kustomization.yaml'),
      Object.fromEntries(
        components.map((it) => [
          `\n#  - ../../components/${it}\n`,
          `\n  - ../../components/${it}\n`,
        ]),
      ),
    );
    if (overlay === 'oidc') edit(join(place, 'overlays/oidc/issuer.yaml'), ISSUER);
    return build(place, overlay);
  }

  async function build(place: string, overlay: string): Promise<Built> {
    const { passed, stdout, stderr } = await kubectl('kustomize', join(place, 'overlays', overlay));
    expect(stderr).to.equal('');
    expect(passed).to.equal(true);
    return new Built(stdout);
  }

  for (const overlay of OVERLAYS) {
    for (const title of [overlay, `${overlay}${WITH_COMPONENTS}`]) {
      it(`${title} names ports, commands and variables that exist`, async () => {
        const { container, environment } = of(title);
        const ports = new Map(container.ports.map((it) => [it.name, it.containerPort]));
        expect(ports.get('http')).to.equal(Number(environment.PORT));
        expect(ports.get('management')).to.equal(Number(environment.MANAGEMENT_PORT));
        const { startupProbe, livenessProbe, readinessProbe } = container;
        const probed = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
        expect(probed).to.deep.equal(
          ['/livez', '/livez', '/readyz'].map((path) => ({ path, port: 'management' })),
        );
        expect(of(title).spec('Service').ports[0].targetPort).to.equal('http');
        const names = container.env.map(({ name }) => name);
        const secret = 'MONGODB_URI_FILE';
        expect([...documentedDefaults.keys(), secret, OF_NODE]).to.include.members(names);
        expect(container).not.to.have.property('command');
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
        const { ACCESS_TOKENS_FILE, MONGODB_URI_FILE } = environment;
        const files = [ACCESS_TOKENS_FILE, MONGODB_URI_FILE, environment[OF_NODE]];
        expect(paths).to.have.members(files.filter((it) => it !== undefined));
      });

      it(`${title} refers to secrets and files that docs/operations.md creates`, async () => {
        const { pod } = of(title);
        for (const { secretName } of of(title).spec('Ingress')?.tls ?? []) {
          expect(operations).to.include(`secret tls ${secretName} `);
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

    it(`${overlay} runs the image that was set`, () => {
      expect(of(overlay).container.image).to.equal(`${REGISTRY}/plant-store:of-the-image`);
    });

    it(`${overlay} is applied in docs/operations.md`, () => {
      expect(operations).to.include(`kubectl apply -k deploy/kubernetes/overlays/${overlay}\n`);
    });
  }

  for (const component of COMPONENTS) {
    it(`can be built with the component ${component} alone`, async () => {
      const alone = (await follow('oidc', [component])).text;
      expect(alone).not.to.equal(of('oidc').text);
      expect(alone).not.to.equal(of(`oidc${WITH_COMPONENTS}`).text);
    });
  }

  it('static-tokens has valid settings, with which the service creates a plant', async () => {
    const { environment } = of('static-tokens');
    const tokens = join(copy, 'tokens');
    writeFileSync(tokens, `${ACCESS_TOKEN_SHA256} nursery\n`);
    const service = await start(environment, { ACCESS_TOKENS_FILE: tokens });
    await ready(service);
    expect((await createPlant(service.address, 1)).status).to.equal(200);
    expect(await service.stop()).to.equal(0);
  });

  it('oidc with private-ca has valid settings, with which the service trusts an issuer of that authority', async () => {
    const { environment } = of(`oidc${WITH_COMPONENTS}`);
    const certificates = await CertificateFolder.create();
    issuer = await issuerOf(certificates);
    const { port } = issuer.address() as AddressInfo;
    const service = await start(environment, {
      JWT_ISSUER: `https://127.0.0.1:${port}`,
      [OF_NODE]: certificates.authority,
    });
    await ready(service);
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

  it('are valid for Kubernetes', async () => {
    const files = [...built].map(([title, { text }]) => {
      const file = join(copy, `${title}.yaml`);
      writeFileSync(file, text);
      return file;
    });
    const { passed, stdout, stderr } = await validate('--strict', ...files);
    expect(stdout + stderr).not.to.include('ERROR');
    expect(passed).to.equal(true);
    const unknown = [...`${stdout}${stderr}`.matchAll(/WARN.*for kind (\w+)/g)];
    for (const [, kind] of unknown) expect(kind).to.equal('PodMonitor');
  });

  it('with an unknown field are refused by the check', async () => {
    const file = join(copy, 'deployment.yaml');
    cpSync(join(folder, 'base/deployment.yaml'), file);
    edit(file, { 'replicas:': 'replica:' });
    const { passed, stdout, stderr } = await validate('--strict', file);
    expect(passed).to.equal(false);
    expect(stdout + stderr).to.include("'replica' was unexpected");
  });

  it('have an Ingress and an egress rule for the ports and pods of the service', () => {
    const it = of(`oidc${WITH_COMPONENTS}`);
    const [{ host, http }] = it.spec('Ingress').rules;
    expect(it.spec('Ingress').tls[0].hosts).to.deep.equal([host]);
    const { name, port } = http.paths[0].backend.service;
    expect(it.spec('Service', name).ports).to.deep.include({
      ...port,
      port: 80,
      targetPort: 'http',
    });
    const { podSelector, policyTypes, egress } = it.spec('NetworkPolicy', 'plant-store-egress');
    expect(podSelector.matchLabels).to.deep.equal(LABELS);
    expect(policyTypes).to.deep.equal(['Egress']);
    const ports = egress.flatMap((rule: { ports: { port: number }[] }) => rule.ports);
    expect(ports.map(({ port }: { port: number }) => port)).to.have.members([53, 53, 27_017, 443]);
  });

  it('have a PodMonitor with the job that the alerts select', async () => {
    const monitor = of(`oidc${WITH_COMPONENTS}`).spec('PodMonitor');
    expect(LABELS).to.have.property(monitor.jobLabel, 'plant-store');
    expect(monitor.selector.matchLabels).to.deep.equal(LABELS);
    expect(monitor.podMetricsEndpoints).to.deep.equal([{ port: 'management', path: '/metrics' }]);
  });
});

/** Replaces texts of a file. Each must be there. */
function edit(file: string, replaced: Readonly<Record<string, string>>): void {
  let text = readFileSync(file, 'utf8');
  for (const [from, to] of Object.entries(replaced)) {
    expect(text).to.include(from);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
}

/** Starts the service like a pod, but on loopback, with plants in memory and with files of this machine. */
function start(
  { MONGODB_URI_FILE, ...environment }: Record<string, string>,
  ofThisMachine: Record<string, string>,
) {
  expect(MONGODB_URI_FILE).to.match(/^\/etc\//);
  expect(environment).to.include.keys(...Object.keys(ofThisMachine));
  return serve({
    ...environment,
    ...FREE_ADDRESSES,
    ...ofThisMachine,
    STORAGE: 'memory',
    SHUTDOWN_DELAY_MS: '0',
  });
}

/** Resolves when the service is ready: when it has reached its storage and has the keys of its issuer. */
async function ready({ management }: Service): Promise<void> {
  while (!(await fetch(`${management}/readyz`)).ok);
}

/** Starts an issuer with https and one key. */
async function issuerOf(certificates: CertificateFolder): Promise<Server> {
  const file = await certificates.issue('issuer.pem', {
    subject: 'CN=x',
    addresses: ['127.0.0.1'],
  });
  const pem = readFileSync(file);
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256', use: 'sig' }];
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
