import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { parse } from 'yaml';
import { anchorsOf } from '../markdown.js';
import { root } from '../root.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}
const RUNBOOK = 'docs/runbook.md';
const DOCS_LABEL = 'plant_store_docs';
const [group]: { rules: Rule[] }[] = parse(read('deploy/monitoring/prometheus-alerts.yaml')).groups;
const rules = group?.rules ?? [];
const dashboard: {
  panels: { title: string; targets: { expr: string }[] }[];
  templating: { list: { name: string; query: string; allValue?: string }[] };
} = JSON.parse(read('deploy/monitoring/grafana-dashboard.json'));

/** The metrics and labels that Prometheus adds. */
const OWN_METRICS = ['up'];
const OWN_LABELS = ['instance', 'job'];
/** Labels whose values depend on requests. */
const OPEN_LABELS = [...OWN_LABELS, 'http_route', 'http_response_status_code'];
const WORDS = ['by', 'on', 'and', 'or', 'unless'];
/** The selector of the service's job, because other jobs have metrics of the same names. */
const JOB = /\b\w+\{[^}]*\bjob="plant-store"[^}]*\}/g;

interface Used {
  readonly metrics: string[];
  readonly matchers: { metric: string; label: string; value: string }[];
  readonly groupings: string[];
}

/** Returns the names in a PromQL expression. Supports the grammar that the expressions of this project use. */
function usedIn(expr: string): Used {
  const matchers = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, metric = '', inner = '']) =>
    [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].map(
      ([, label = '', value = '']) => ({
        metric,
        label,
        value,
      }),
    ),
  );
  const grouping = /\b(?:by|on)\s*\(([^)]*)\)/g;
  const groupings = [...expr.matchAll(grouping)].flatMap(([, inner = '']) => inner.split(/,\s*/));
  const bare = expr.replace(/\{[^}]*\}|\[[^\]]*\]/g, '').replace(grouping, '');
  const names = [...bare.matchAll(/\b([a-z]\w*)\b(?!\s*\()/g)].map(([, name = '']) => name);
  return { metrics: names.filter((name) => !WORDS.includes(name)), matchers, groupings };
}

/** Returns each series name with its labels and their values, from the text of `/metrics`. */
function seriesOf(text: string): Map<string, Map<string, Set<string>>> {
  const series = new Map<string, Map<string, Set<string>>>();
  for (const [, name = '', inner = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const labels = series.get(name) ?? new Map<string, Set<string>>();
    series.set(name, labels);
    for (const [, label = '', value = ''] of inner.matchAll(/(\w+)="([^"]*)"/g)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
  }
  return series;
}

function familyOf(series: string): string {
  return series.replace(/_(?:bucket|sum|count)$/, '');
}

/** Returns the source code of the service. */
function sources(): string {
  const packages = join(root, 'packages');
  return readdirSync(packages, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^[\w-]+\/src\/.*\.ts$/.test(file))
    .map((file) => readFileSync(join(packages, file), 'utf8'))
    .join('');
}

/** Returns the sections of a page, by the anchors of their headings. */
function sectionsOf(page: string): Map<string, string> {
  const parts = read(page).split(/^(?=#+ )/m);
  return new Map(
    parts.map((text) => [anchorsOf({ path: page, prose: text, blocks: [] })[0] ?? '', text]),
  );
}

describe('The monitoring of the service', () => {
  let series: Map<string, Map<string, Set<string>>>;

  before(async () => {
    const service = await serve({ MANAGEMENT_PORT: '0', STORAGE: 'memory', ACCESS_TOKEN_SHA256 });
    await createPlant(service.address, 1);
    await createPlant(service.address, 1, 'Monstera', 'another-token');
    series = seriesOf(await (await fetch(`${service.management}/metrics`)).text());
    await service.stop();
  });

  after(endAll);

  const expressions: [title: string, expr: string][] = [
    ...rules.map(({ alert, expr }): [string, string] => [`the alert ${alert}`, expr]),
    ...dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }): [string, string] => [`the panel "${title}"`, expr]),
    ),
  ];
  for (const [title, expr] of expressions) {
    it(`${title} uses metrics, labels and values that exist, of the service's job: ${expr}`, () => {
      expect(usedIn(expr.replaceAll(JOB, '0')).metrics).to.deep.equal([]);
      const { metrics, matchers, groupings } = usedIn(expr);
      expect(metrics).not.to.have.length(0);
      expect([...series.keys(), ...OWN_METRICS]).to.include.members(metrics);
      const labelsOf = (name: string) => [...(series.get(name)?.keys() ?? []), ...OWN_LABELS];
      for (const { metric, label, value } of matchers) {
        expect(labelsOf(metric), metric).to.include(label);
        if (!OPEN_LABELS.includes(label))
          expect([...(series.get(metric)?.get(label) ?? [])]).to.include(value);
      }
      expect(metrics.flatMap(labelsOf)).to.include.members(groupings);
    });
  }

  it('offers only instances of the service on the dashboard, also for "All"', () => {
    const instance = dashboard.templating.list.find(({ name }) => name === 'instance');
    expect(instance?.query).to.match(/^label_values\((\w+)\{job="plant-store"\}, instance\)$/);
    expect(series.has(/\((\w+)/.exec(instance?.query ?? '')?.[1] ?? '')).to.equal(true);
    expect(instance).not.to.have.property('allValue');
  });

  it('is checked for metrics without a job', () => {
    const expr = 'plants_total{job="plant-store"} / plants_total + up{job="other"}';
    expect(usedIn(expr.replaceAll(JOB, '0')).metrics).to.deep.equal(['plants_total', 'up']);
  });

  it('is checked for metrics, labels and values that do not exist', () => {
    const { metrics, matchers, groupings } = usedIn(
      'sum by (shape, le) (rate(plants_total{colour=~"red"}[5m])) / up{job="a"} > 0.5',
    );
    expect(metrics).to.deep.equal(['plants_total', 'up']);
    expect(matchers[0]).to.deep.equal({ metric: 'plants_total', label: 'colour', value: 'red' });
    expect(groupings).to.deep.equal(['shape', 'le']);
  });

  for (const { alert, expr, annotations } of rules) {
    it(`has a section in the runbook for the alert ${alert}`, () => {
      const [page = '', anchor = ''] = annotations.runbook.split('#');
      expect(page).to.equal(`{{ $externalLabels.${DOCS_LABEL} }}/${basename(RUNBOOK)}`);
      expect(sectionsOf(RUNBOOK).get(anchor)).to.match(
        new RegExp(`^.*\\bAlerts? .*\`${alert}\`|: alert \`${alert}\``, 'm'),
      );
    });

    it(`has a panel with the metrics of the alert ${alert}`, () => {
      const shown = dashboard.panels.flatMap(({ targets }) =>
        targets.flatMap(({ expr: it }) => usedIn(it).metrics.map(familyOf)),
      );
      expect(shown).to.include.members(usedIn(expr).metrics.map(familyOf));
    });
  }

  it('has one place for the address of the runbook, which the scrape configuration sets', () => {
    const { global } = parse(read('deploy/monitoring/prometheus-scrape.yaml'));
    expect(new URL(`${global.external_labels[DOCS_LABEL]}/runbook.md`).protocol).to.equal('https:');
  });

  it('has every metric that the runbook names', () => {
    const named = [...read(RUNBOOK).matchAll(/`((?:plant_store|http_server|nodejs|process)_\w+)/g)];
    const there = new Set([...series.keys()].flatMap((name) => [name, familyOf(name)]));
    expect(named).to.have.length.above(20);
    const unknown = named.filter(([, name = '']) => !there.has(name));
    expect(unknown.map(([, name]) => name)).to.deep.equal([]);
  });

  it('has every log line and every reason that the runbook names', () => {
    const page = read(RUNBOOK);
    const logs = page.match(/\*\*Log\*\*: [\s\S]*?(?=\n\n)/g) ?? [];
    const lines = logs.flatMap((it) => it.replaceAll('\n', ' ').match(/`[^`]+`/g) ?? []);
    const [, table = ''] = page.split(/^\| `reason` .*\n/m);
    const reasons = [
      ...table
        .split('\n\n', 1)
        .join()
        .matchAll(/^\| `\d*\s*([^`:]+)/gm),
    ];
    expect(lines).to.have.length.above(15);
    expect(reasons).to.have.length(5);
    const quoted = [...page.matchAll(/the log has `([^`]+)`/g)];
    const parts = quoted.flatMap(([, line = '']) => line.split(/ … | \(|: …\)?/)).filter(Boolean);
    expect(parts).to.have.length.above(5);
    const printed = read('docs/operations.md') + read('docs/authentication.md') + sources();
    const named = [
      ...lines.map((it) => it.slice(1, -1)),
      ...reasons.map(([, it = '']) => it),
      ...parts,
    ];
    const unknown = named.filter((it) => !/^"|=/.test(it) && !printed.includes(it));
    expect(unknown).to.deep.equal([]);
  });

  it('has every metric of the service in docs/operations.md', () => {
    const own = [...series.keys()].filter((name) => /^(?:plant_store|http_server)_/.test(name));
    const families = new Set(own.map(familyOf));
    for (const family of families) expect(read('docs/operations.md')).to.include(`\`${family}\``);
  });
});
