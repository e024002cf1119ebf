import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from '../peers.js';
import { chart } from './chart.js';
import { CONNECTIONS, median, type Sample } from './compare.js';
import { sum } from './load.js';

const DOCUMENT = join(root, 'docs/evidence.md');
const FIGURES = join(root, 'docs/performance.csv');
const CHART = join(root, 'docs/performance.svg');

/** The samples of one run of the benchmark, by database. */
export type Results = ReadonlyMap<string, readonly Sample[]>;

type Measure = readonly [title: string, of: (sample: Sample) => number];

const cpu: Measure = ['CPU time', ({ cpuUs }) => sum(cpuUs)];
const perSecond: Measure = ['creates per second', (it) => it.perSecond];

const DURABLE = [perSecond, cpu];
const BESIDE = [
  ['memory', 'in memory', ['Fastify', 'base'], [cpu]],
  ['mongodb', 'MongoDB', ['Fastify + insertOne', 'Fastify + batching', 'base'], DURABLE],
  ['postgresql', 'PostgreSQL', ['Fastify + INSERT', 'base'], DURABLE],
] as const;

/** Returns the table of ratios, and the figures of each database, by the names of their sections. */
export function tables(results: Results): ReadonlyMap<string, string> {
  const figures = [...results].map(([store, samples]) => [store, figureTable(samples)] as const);
  return new Map([['ratios', ratioTable(results)], ...figures]);
}

/** Returns the table of ratios: of the service to its peers, and to another checkout if there is one. */
function ratioTable(results: Results): string {
  const rows = BESIDE.flatMap(([store, title, peers, measures]) =>
    peers.flatMap((peer) => rowsOf(title, results.get(store) ?? [], peer, measures)),
  );
  return table(['', 'compared with', ...CONNECTIONS.map(String)], rows);
}

function rowsOf(
  store: string,
  samples: readonly Sample[],
  peer: string,
  measures: readonly Measure[],
): string[][] {
  if (!samples.some(({ subject }) => subject === peer)) return [];
  return measures.map(([title, of]) => [
    `${title}, ${store}`,
    peer,
    ...CONNECTIONS.map((connections) => ratio(samples, peer, connections, of)),
  ]);
}

/** The median of the rounds and, with more than one, their least and largest ratio. */
function ratio(
  samples: readonly Sample[],
  peer: string,
  connections: number,
  of: Measure[1],
): string {
  const here = samples.filter((it) => it.connections === connections);
  const ratios = here
    .filter(({ subject }) => subject === 'Plant Store')
    .map((own) => {
      const other = here.find((it) => it.subject === peer && it.round === own.round);
      return other === undefined ? Number.NaN : of(own) / of(other);
    });
  const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  const middle = median(ratios).toFixed(2);
  return ratios.length > 1 ? `**${middle}** (${range})` : middle;
}

const TITLES = 'connections,subject,creates/s,p50 ms,p99 ms,server µs,database µs,failed'.split(
  ',',
);

function figureRows(samples: readonly Sample[]): string[][] {
  const subjects = [...new Set(samples.map(({ subject }) => subject))];
  return CONNECTIONS.flatMap((connections) =>
    subjects.map((subject) => {
      const own = samples.filter((it) => it.subject === subject && it.connections === connections);
      const of = (value: (sample: Sample) => number) => median(own.map(value));
      return [
        `${connections}`,
        subject,
        of((it) => it.perSecond).toFixed(0),
        of((it) => it.p50).toFixed(2),
        of((it) => it.p99).toFixed(2),
        of(({ cpuUs }) => cpuUs[0] ?? Number.NaN).toFixed(0),
        own[0]?.cpuUs.length === 2 ? of(({ cpuUs }) => cpuUs[1] ?? Number.NaN).toFixed(0) : '',
        `${sum(own.map(({ failed }) => failed))}`,
      ];
    }),
  );
}

function figureTable(samples: readonly Sample[]): string {
  return table(TITLES, figureRows(samples));
}

/** Returns the figures of all databases as CSV. */
function figureFile(results: Results): string {
  const rows = [...results].flatMap(([store, samples]) =>
    figureRows(samples).map((row) => [store, ...row]),
  );
  return [['store', ...TITLES], ...rows].map((cells) => `${cells.join(',')}\n`).join('');
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = titles.map((_, column) => (column < 2 ? '---' : '--:'));
  return [titles, line, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Replaces the measured sections of docs/evidence.md, docs/performance.csv and the chart. */
export function writeDocuments(results: Results, rounds: number, creates: number): void {
  const run = `${machine()}, ${rounds} rounds, windows of ${creates} creates, with one connection a tenth.`;
  let text = readFileSync(DOCUMENT, 'utf8');
  for (const [name, content] of Object.entries({ machine: run, ratios: ratioTable(results) })) {
    const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`docs/evidence.md lacks ${begin} or ${end}`);
    text = `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
  }
  writeFileSync(DOCUMENT, text);
  writeFileSync(FIGURES, figureFile(results));
  writeFileSync(CHART, drawing(results.get('mongodb') ?? []));
}

function machine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root });
  const processors = `${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'})`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, commit ${`${commit}`.trim()}, ${processors}, ${memory}, Node.js ${process.version}`;
}

function drawing(samples: readonly Sample[]): string {
  const subjects = [...new Set(samples.map(({ subject }) => subject))];
  return chart(
    CONNECTIONS.map((connections) => ({
      title: `Durable creates per second, ${connections} connection${connections === 1 ? '' : 's'}`,
      bars: subjects.map((label) => {
        const own = samples.filter((it) => it.subject === label && it.connections === connections);
        return { label, value: median(own.map((it) => it.perSecond)) };
      }),
    })),
  );
}
