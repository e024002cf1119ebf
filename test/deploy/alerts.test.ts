import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { root } from '../root.js';
import { type Checker, findChecker } from './support/checkers.js';

const folder = join(root, 'deploy/monitoring');
const RULES = 'prometheus-alerts.yaml';
const CASES = 'prometheus-alerts.test.yaml';
const rules = readFileSync(join(folder, RULES), 'utf8');

interface Rule {
  readonly alert: string;
}
interface Case {
  readonly alert_rule_test: { readonly alertname: string; readonly exp_alerts: unknown[] }[];
}
const [group]: { rules: Rule[] }[] = parse(rules).groups;
const alerts = group?.rules ?? [];
const cases: Case[] = parse(readFileSync(join(folder, CASES), 'utf8')).tests;

describe('The alerts, in Prometheus', function () {
  this.timeout(60_000);
  let promtool: Checker;
  let copies: string;

  before(function () {
    promtool = findChecker(this, 'promtool');
    copies = mkdtempSync(join(tmpdir(), 'plant-store-'));
    writeFileSync(join(copies, CASES), readFileSync(join(folder, CASES)));
  });
  after(() => copies && rmSync(copies, { recursive: true }));

  it('pass their test cases', async () => {
    expect(await promtool('check', 'rules', join(folder, RULES))).to.include({ passed: true });
    expect(await promtool('test', 'rules', join(folder, CASES))).to.include({ passed: true });
  });

  for (const { alert } of alerts) {
    it(`${alert} has test cases in which it fires, and others in which it does not`, () => {
      const expected = cases.flatMap((it) => it.alert_rule_test).filter(isOf(alert));
      const fires = expected.map(({ exp_alerts }) => exp_alerts.length > 0);
      expect(fires).to.include.members([true, false]);
    });
  }

  it('are loaded by the scrape configuration', async () => {
    const configuration = parse(readFileSync(join(folder, 'prometheus-scrape.yaml'), 'utf8'));
    const [scrape] = configuration.scrape_configs;
    expect(scrape.job_name).to.equal('plant-store');
    // Debian's promtool is built without Kubernetes, so a static target replaces this part.
    const { kubernetes_sd_configs, ...rest } = scrape;
    expect(kubernetes_sd_configs).to.have.length(1);
    const file = join(copies, 'prometheus-scrape.yaml');
    const scrape_configs = [{ ...rest, static_configs: [{ targets: ['plant-store:9090'] }] }];
    writeFileSync(join(copies, RULES), rules);
    writeFileSync(file, JSON.stringify({ ...configuration, scrape_configs }));
    const { passed, stdout } = await promtool('check', 'config', file);
    expect(passed).to.equal(true);
    expect(stdout).to.include(`${alerts.length} rules found`);
  });

  it('and the dashboard have valid PromQL expressions', async () => {
    const dashboard = JSON.parse(readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8'));
    const panels: { targets: { expr: string }[] }[] = dashboard.panels;
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const records = expressions.map((expr, index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(copies, 'dashboard.yaml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: records }] }));
    expect(await promtool('check', 'rules', file)).to.include({ passed: true });
  });
});

function isOf(alert: string): (it: Case['alert_rule_test'][number]) => boolean {
  return ({ alertname }) => alertname === alert;
}
