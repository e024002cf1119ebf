import { readFileSync } from 'node:fs';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { parse } from 'yaml';

const read = (file: string): string =>
  readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
const [group]: { rules: Rule[] }[] = parse(read('deploy/monitoring/prometheus-alerts.yaml')).groups;
const rules = group?.rules ?? [];
const dashboard: {
  panels: { title: string; targets: { expr: string }[] }[];
  templating: { list: { name: string; query: string; allValue?: string }[] };
} = JSON.parse(read('deploy/monitoring/grafana-dashboard.json'));

/** What Prometheus itself adds. */
const OWN_METRICS = ['up'];
const OWN_LABELS = ['instance', 'job'];
/** Their values depend on what clients ask for. */
const OPEN_LABELS = [...OWN_LABELS, 'http_route', 'http_response_status_code'];
const WORDS = ['by', 'on', 'and', 'or', 'unless'];
/** What selects the service: Prometheus scrapes others, with metrics of the same names. */
const JOB = /\b\w+\{[^}]*\bjob="plant-store"[^}]*\}/g;

interface Used {
  readonly metrics: string[];
  readonly matchers: { metric: string; label: string; value: string }[];
  readonly groupings: string[];
}

/** What an expression in PromQL speaks of: enough of its grammar for the ones of this project. */
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

/** Each series name with the values of its labels, as `/metrics` has them. */
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

describe('What the service is watched with', () => {
  let series: Map<string, Map<string, Set<string>>>;

  before(async () => {
    const service = await serve({ MANAGEMENT_PORT: '0', STORAGE: 'memory', ACCESS_TOKEN_SHA256 });
    await createPlant(service.address, 1);
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

  it('offers instances of the service alone on the dashboard, also as "All"', () => {
    const instance = dashboard.templating.list.find(({ name }) => name === 'instance');
    expect(instance?.query).to.match(/^label_values\((\w+)\{job="plant-store"\}, instance\)$/);
    expect(series.has(/\((\w+)/.exec(instance?.query ?? '')?.[1] ?? '')).to.equal(true);
    expect(instance).not.to.have.property('allValue');
  });

  it('finds a metric without its job', () => {
    const expr = 'plants_total{job="plant-store"} / plants_total + up{job="other"}';
    expect(usedIn(expr.replaceAll(JOB, '0')).metrics).to.deep.equal(['plants_total', 'up']);
  });

  it('finds what does not exist', () => {
    const { metrics, matchers, groupings } = usedIn(
      'sum by (shape, le) (rate(plants_total{colour=~"red"}[5m])) / up{job="a"} > 0.5',
    );
    expect(metrics).to.deep.equal(['plants_total', 'up']);
    expect(matchers[0]).to.deep.equal({ metric: 'plants_total', label: 'colour', value: 'red' });
    expect(groupings).to.deep.equal(['shape', 'le']);
  });

  it('is explained: docs/operations.md has a line for every alert', () => {
    const explained = [...read('docs/operations.md').matchAll(/^\| `(PlantStore\w+)` \|/gm)];
    expect(explained.map(([, name]) => name)).to.have.members(rules.map(({ alert }) => alert));
  });

  it('is all there: docs/operations.md names every metric of the service itself', () => {
    const own = [...series.keys()].filter((name) => /^(?:plant_store|http_server)_/.test(name));
    const families = new Set(own.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    for (const family of families) expect(read('docs/operations.md')).to.include(`\`${family}\``);
  });
});
