import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  ownProcesses,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { withReal } from '../../test/documents/support/snippet.js';
import { read, root, temporaryFolder } from '../../test/support/root.js';
import { type Checker, findChecker } from './support/checkers.js';
import { documentedDefaults, FREE_ADDRESSES, gracePeriod } from './support/documented-settings.js';

const { endAll, serve } = ownProcesses();

const folder = join(root, 'deploy/kubernetes');
const deploying = read('docs/deploying.md');
const COMPONENTS = readdirSync(join(folder, 'components'));
/** What an operator reads: the page, and what each component says to do first. */
const instructions = [
  deploying,
  ...COMPONENTS.map((it) => read(`deploy/kubernetes/components/${it}/kustomization.yaml`)),
].join('');
/** Each overlay: the first one as it is, the other one with every component. */
const OVERLAYS = { 'static-tokens': [], oidc: COMPONENTS } as const;
type Overlay = keyof typeof OVERLAYS;
const names = Object.keys(OVERLAYS) as Overlay[];
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

type Built = ReturnType<typeof builtFrom>;

/** The resources that an overlay builds. kubernetes-validate checks their types. */
function builtFrom(text: string) {
  const resources = parseAllDocuments(text).map((document) => document.toJS());
  const spec = (kind: string, name = 'plant-store') =>
    resources.find((it) => it.kind === kind && it.metadata.name === name)?.spec;
  const pod = spec('Deployment').template.spec;
  const [container] = pod.containers;
  /** The variables whose values are in the manifest. */
  const environment: Record<string, string> = Object.fromEntries(
    container.env.map((it: Record<string, string>) => [it.name, it.value]),
  );
  return { text, spec, pod, container, environment };
}

describe('The Kubernetes manifests', function () {
  this.timeout(60_000);
  let kubectl: Checker;
  let validate: Checker;

  const built = {} as Record<Overlay, Built>;

  before(async function () {
    kubectl = findChecker(this, 'kubectl');
    validate = findChecker(this, 'kubernetes-validate');
    for (const name of names) built[name] = await follow(name, OVERLAYS[name]);
  });
  afterEach(endAll);

  /** Edits a copy of the manifests as docs/deploying.md describes it, and builds the overlay. */
  async function follow(overlay: Overlay, components: readonly string[]): Promise<Built> {
    const place = temporaryFolder();
    cpSync(folder, place, { recursive: true });
    edit(join(place, 'base/kustomization.yaml'), {
      'newName: plant-store': `newName: ${REGISTRY}/plant-store`,
      'newTag: 1.0.0-dev': 'newTag: of-the-image',
    });
    const used = components.map((it) => [
      `\n#  - ../../components/${it}\n`,
      `\n  - ../../components/${it}\n`,
    ]);
    edit(join(place, 'overlays', overlay, 'kustomization.yaml'), Object.fromEntries(used));
    if (overlay === 'oidc') edit(join(place, 'overlays/oidc/issuer.yaml'), ISSUER);
    const { stdout, stderr } = await kubectl('kustomize', join(place, 'overlays', overlay));
    expect(stderr).to.equal('');
    return builtFrom(stdout);
  }

  for (const title of names) {
    it(`name ports, commands and variables that exist: ${title}`, () => {
      const { container, environment } = built[title];
      expect(container.ports).to.deep.equal([
        { name: 'http', containerPort: Number(environment.PORT) },
        { name: 'management', containerPort: Number(environment.MANAGEMENT_PORT) },
      ]);
      const { startupProbe, livenessProbe, readinessProbe } = container;
      expect([startupProbe, livenessProbe, readinessProbe].map((it) => it.httpGet)).to.deep.equal(
        ['/livez', '/livez', '/readyz'].map((path) => ({ path, port: 'management' })),
      );
      expect(built[title].spec('Service').ports[0].targetPort).to.equal('http');
      const known = [...documentedDefaults.keys(), 'MONGODB_URI_FILE', OF_NODE];
      expect(known).to.include.members(Object.keys(environment));
      expect(container).not.to.have.property('command');
      expect(container.args).to.deep.equal(['serve']);
      expect(container.image).to.equal(`${REGISTRY}/plant-store:of-the-image`);
    });

    it(`let only Prometheus reach the management port of the pods: ${title}`, () => {
      const overlay = built[title];
      const { selector, template, replicas } = overlay.spec('Deployment');
      const budget = overlay.spec('PodDisruptionBudget');
      const { podSelector, policyTypes, ingress } = overlay.spec('NetworkPolicy');
      expect([template.metadata.labels, overlay.spec('Service').selector]).to.deep.equal([
        LABELS,
        LABELS,
      ]);
      for (const { matchLabels } of [selector, budget.selector, podSelector])
        expect(matchLabels).to.deep.equal(LABELS);
      expect(replicas).to.be.above(budget.maxUnavailable);
      expect(policyTypes).to.deep.equal(['Ingress']);
      const monitoring = { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } };
      expect(ingress).to.deep.equal([
        { ports: [{ port: 'http' }] },
        { from: [{ namespaceSelector: monitoring }], ports: [{ port: 'management' }] },
      ]);
    });

    it(`contain no secrets, and name those that the instructions create: ${title}`, () => {
      const { pod, container, environment } = built[title];
      expect(environment).not.to.have.any.keys('MONGODB_URI', 'ACCESS_TOKEN_SHA256');
      expect(deploying).to.include(`\nkubectl apply -k deploy/kubernetes/overlays/${title}\n`);
      for (const { secretName } of built[title].spec('Ingress')?.tls ?? []) {
        expect(instructions).to.include(`secret tls ${secretName} `);
      }
      const paths: string[] = [];
      for (const { name, secret, configMap } of pod.volumes) {
        const mount = container.volumeMounts.find((it: { name: string }) => it.name === name);
        const kind = secret ? `secret generic ${secret.secretName}` : `configmap ${configMap.name}`;
        for (const { key, path } of (secret ?? configMap).items) {
          expect(instructions).to.match(new RegExp(`${kind} [^;]*--from-file=${key}=`));
          paths.push(`${mount?.mountPath}/${path}`);
        }
      }
      const { ACCESS_TOKENS_FILE, MONGODB_URI_FILE, [OF_NODE]: authorities } = environment;
      const files = [ACCESS_TOKENS_FILE, MONGODB_URI_FILE, authorities];
      expect(paths).to.have.members(files.filter((it) => it !== undefined));
    });

    it(`run the service without root or write access, and with time to stop: ${title}`, () => {
      const { pod, container, environment } = built[title];
      expect(pod.securityContext).to.deep.include({ runAsNonRoot: true });
      expect(container.securityContext).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container).to.have.nested.property('resources.limits.memory');
      expect(container).to.have.nested.property('resources.requests.cpu');
      expect(pod.terminationGracePeriodSeconds).to.be.at.least(gracePeriod(environment));
    });
  }

  it('contain settings with which the service starts, verifies tokens and stops', async () => {
    const tokens = join(temporaryFolder(), 'tokens');
    writeFileSync(tokens, `${ACCESS_TOKEN_SHA256} nursery\n`);
    for (const [overlay, ofThisMachine, status] of [
      ['static-tokens', { ACCESS_TOKENS_FILE: tokens }, 200],
      ['oidc', { JWT_ISSUER: 'http://127.0.0.1:1' }, 401],
    ] as const) {
      const { MONGODB_URI_FILE, ...environment } = built[overlay].environment;
      expect(MONGODB_URI_FILE).to.match(/^\/etc\//);
      expect(environment).to.include.keys(...Object.keys(ofThisMachine));
      const memory = { STORAGE: 'memory', SHUTDOWN_DELAY_MS: '0' };
      const all = { ...environment, ...FREE_ADDRESSES, ...ofThisMachine, ...memory };
      const service = await serve(all);
      expect((await createPlant(service.address, 1)).status).to.equal(status);
      expect(await service.stop()).to.equal(0);
    }
  });

  it('are valid according to the Kubernetes schemas', async () => {
    const files = Object.values(built).map(({ text }) => {
      const file = join(temporaryFolder(), 'built.yaml');
      writeFileSync(file, text);
      return file;
    });
    const { stdout, stderr } = await validate('--strict', ...files);
    expect(stdout + stderr).not.to.include('ERROR');
    const unknown = [...`${stdout}${stderr}`.matchAll(/WARN.*for kind (\w+)/g)];
    for (const [, kind] of unknown) expect(kind).to.equal('PodMonitor');
  });
});

/** Replaces texts of a file. Each must be there. */
function edit(file: string, replaced: Readonly<Record<string, string>>): void {
  writeFileSync(file, withReal(readFileSync(file, 'utf8'), replaced));
}
