import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  ownProcesses,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { parse } from 'yaml';
import { anchorsOf } from '../../test/support/markdown.js';
import { read, temporaryFolder } from '../../test/support/root.js';
import { type Checker, findChecker } from './support/checkers.js';

const { endAll, serve } = ownProcesses();

const RUNBOOK = 'docs/runbook.md';
const DOCS_LABEL = 'plant_store_docs';
const FOLDER = 'deploy/monitoring';
const RULES = 'prometheus-alerts.yaml';
const CASES = 'prometheus-alerts.test.yaml';
const rules: {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { runbook_url: string };
}[] = parse(read(`${FOLDER}/${RULES}`)).groups[0].rules;
const cases: { alertname: string; exp_alerts: unknown[] }[] = parse(
  read(`${FOLDER}/${CASES}`),
).tests.flatMap((it: { alert_rule_test: unknown[] }) => it.alert_rule_test);
const dashboard: {
  panels: { title: string; targets: { expr: string }[] }[];
  templating: { list: { name: string; query: string; allValue?: string }[] };
} = JSON.parse(read(`${FOLDER}/grafana-dashboard.json`));
/** The expressions of the dashboard, with the titles of their panels. */
const shown = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

/** The metrics and labels that Prometheus adds. */
const OWN_METRICS = ['up'];
const OWN_LABELS = ['instance', 'job'];
/** Labels whose values depend on requests. */
const OPEN_LABELS = [...OWN_LABELS, 'http_route', 'http_response_status_code'];
const WORDS = ['by', 'on', 'and', 'or', 'unless'];
/** The selector of the service's job, because other jobs have metrics of the same names. */
const JOB = /\b\w+\{[^}]*\bjob="plant-store"[^}]*\}/g;

/** Returns the names in a PromQL expression. Supports the grammar that the expressions of this project use. */
function usedIn(expr: string) {
  const matchers = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, metric = '', inner = '']) =>
    [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].map(
      ([, label = '', value = '']) => ({ metric, label, value }),
    ),
  );
  const grouping = /\b(?:by|on)\s*\(([^)]*)\)/g;
  const groupings = [...expr.matchAll(grouping)].flatMap(([, inner = '']) => inner.split(/,\s*/));
  const bare = expr.replace(/\{[^}]*\}|\[[^\]]*\]/g, '').replace(grouping, '');
  const names = [...bare.matchAll(/\b([a-z]\w*)\b(?!\s*\()/g)].map(([, name = '']) => name);
  return { metrics: names.filter((name) => !WORDS.includes(name)), matchers, groupings };
}

/** Returns the name of each sample in the text of `/metrics`, with its labels and their values. */
function samplesOf(text: string) {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', inner = '']) => {
    const labels = [...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, ...label]) => label);
    return { name, labels: Object.fromEntries(labels) as Record<string, string> };
  });
}

const familyOf = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '');

/** The sections of the runbook, by the anchors of their headings. */
const sections = new Map(
  read(RUNBOOK)
    .split(/^(?=#+ )/m)
    .map((prose) => [anchorsOf({ path: RUNBOOK, prose, blocks: [] })[0], prose]),
);

describe('The monitoring of the service', () => {
  let samples: ReturnType<typeof samplesOf>;
  const names = () => samples.map(({ name }) => name);

  before(async () => {
    const service = await serve({ MANAGEMENT_PORT: '0', STORAGE: 'memory', ACCESS_TOKEN_SHA256 });
    await createPlant(service.address, 1);
    await createPlant(service.address, 1, 'Monstera', 'another-token');
    samples = samplesOf(await (await fetch(`${service.management}/metrics`)).text());
    await service.stop();
  });

  after(endAll);

  const expressions = [
    ...rules.map(({ alert, expr }) => [`the alert ${alert}`, expr] as const),
    ...shown.map(({ title, expr }) => [`the panel "${title}"`, expr] as const),
  ];
  describe('uses only metrics, labels and values that the service exports, in', () => {
    for (const [title, expr] of expressions) {
      it(`${title}: ${expr.slice(0, 60)}`, () => {
        expect(usedIn(expr.replaceAll(JOB, '0')).metrics).to.deep.equal([]);
        const { metrics, matchers, groupings } = usedIn(expr);
        expect(metrics).not.to.have.length(0);
        expect([...names(), ...OWN_METRICS]).to.include.members(metrics);
        const of = (metric: string) => samples.filter(({ name }) => name === metric);
        const labelsOf = (metric: string) => [
          ...of(metric).flatMap(({ labels }) => Object.keys(labels)),
          ...OWN_LABELS,
        ];
        for (const { metric, label, value } of matchers) {
          expect(labelsOf(metric), metric).to.include(label);
          if (!OPEN_LABELS.includes(label))
            expect(of(metric).map(({ labels }) => labels[label])).to.include(value);
        }
        expect(metrics.flatMap(labelsOf)).to.include.members(groupings);
      });
    }
  });

  for (const { alert, expr, labels, annotations } of rules) {
    it(`has test cases, a runbook section and a panel for the alert ${alert}`, () => {
      const expected = cases.filter(({ alertname }) => alertname === alert);
      const fires = expected.map(({ exp_alerts }) => exp_alerts.length > 0);
      expect(fires).to.include.members([true, false]);
      const [page = '', anchor = ''] = annotations.runbook_url.split('#');
      expect(page).to.equal(`{{ $externalLabels.${DOCS_LABEL} }}/${basename(RUNBOOK)}`);
      expect(sections.get(anchor)).to.include(`\`${alert}\``);
      const row = sections
        .get('alerts')
        ?.split('\n')
        .find((it) => it.includes(`\`${alert}\``));
      expect(row).to.include(`(#${anchor})`);
      expect(row).to.include(labels.severity === 'critical' ? '| yes |' : '| no |');
      const onPanels = shown.flatMap((it) => usedIn(it.expr).metrics.map(familyOf));
      expect(onPanels).to.include.members(usedIn(expr).metrics.map(familyOf));
    });
  }

  it('includes every metric that the runbook names', () => {
    const named = [...read(RUNBOOK).matchAll(/`((?:plant_store|http_server|nodejs|process)_\w+)/g)];
    const there = new Set(names().flatMap((name) => [name, familyOf(name)]));
    expect(named).not.to.have.length(0);
    const unknown = named.filter(([, name = '']) => !there.has(name));
    expect(unknown.map(([, name]) => name)).to.deep.equal([]);
  });

  it('documents every metric in docs/observing.md', () => {
    const own = names().filter((name) => /^(?:plant_store|http_server)_/.test(name));
    const families = new Set(own.map(familyOf));
    for (const family of families) expect(read('docs/observing.md')).to.include(`\`${family}\``);
  });
});

describe('The monitoring, checked by promtool,', () => {
  let promtool: Checker;
  const copies = temporaryFolder();
  const copy = (name: string) => join(copies, name);

  before(function () {
    promtool = findChecker(this, 'promtool');
    for (const name of [RULES, CASES]) writeFileSync(copy(name), read(`${FOLDER}/${name}`));
  });

  it('has alerts that pass their test cases', async () => {
    await promtool('test', 'rules', copy(CASES));
  });

  it('has a scrape configuration that loads the alerts and names the runbook', async () => {
    const configuration = parse(read(`${FOLDER}/prometheus-scrape.yaml`));
    const docs = configuration.global.external_labels[DOCS_LABEL];
    expect(new URL(`${docs}/runbook.md`).protocol).to.equal('https:');
    const [scrape] = configuration.scrape_configs;
    expect(scrape.job_name).to.equal('plant-store');
    // Debian's promtool is built without Kubernetes, so a static target replaces this part.
    const { kubernetes_sd_configs, ...rest } = scrape;
    expect(kubernetes_sd_configs).to.have.length(1);
    const scrape_configs = [{ ...rest, static_configs: [{ targets: ['plant-store:9090'] }] }];
    writeFileSync(copy('scrape.yaml'), JSON.stringify({ ...configuration, scrape_configs }));
    const { stdout } = await promtool('check', 'config', copy('scrape.yaml'));
    expect(stdout).to.include(`${rules.length} rules found`);
  });

  it('has a dashboard with valid PromQL expressions', async () => {
    const records = shown.map(({ expr }, index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const groups = [{ name: 'dashboard', rules: records }];
    writeFileSync(copy('dashboard.yaml'), JSON.stringify({ groups }));
    await promtool('check', 'rules', copy('dashboard.yaml'));
  });
});
