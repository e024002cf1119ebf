import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { barsAt, chart } from './chart.js';
import type { Sample } from './compare.js';
import type { ImportSample } from './imports.js';
import { ratioRows } from './ratios.js';
import type { Results } from './results.js';
import { root } from './subject.js';
import { median, type Summary, summarise } from './summary.js';

const DOCUMENT = join(root, 'docs/performance.md');
const IMPORT_DOCUMENT = join(root, 'docs/import.md');
const CHART = join(root, 'docs/performance.svg');

/** When other programs keep more CPUs busy than this, the figures are marked as inexact. */
const QUIET = 0.1;

/** Updates the measured figures in the documents and the chart. */
export function writeDocument(results: Results): void {
  const { memory, durable, growth, connections, delay, imports, startUp, size, machine } = results;
  const when = `${machine.at.slice(0, 16).replace('T', ' ')} UTC, commit ${machine.commit}`;
  const sections: Record<string, string | undefined> = {
    machine: memory && machineText(results),
    memory: memory && table(withLoad(memory, 'own')),
    'memory-wrk': memory && wrkTable(memory),
    durable: durable && table(withLoad(durable, 'own')),
    'durable-wrk': durable && wrkTable(durable),
    ratios: memory && durable && ratioTable(memory, durable),
    growth: growth && `${stamp(when, growth)}\n\n${table(growth)}`,
    connections: connections && `${stamp(when, connections)}\n\n${table(connections)}`,
    delay: delay && `${stamp(when, delay)}\n\n${table(delay)}`,
    'start-up': startUp && `${when}. ${startUpText(startUp)}`,
    size: size && `${when}. ${size.packages} packages, ${size.mebibytes} MiB.`,
  };
  writeSections(DOCUMENT, sections);
  writeSections(IMPORT_DOCUMENT, {
    import: imports && `${stamp(when, imports)}\n\n${importTable(imports)}`,
  });
  if (memory && durable) writeFileSync(CHART, drawing(memory, durable));
}

/** Updates the measured sections of a document. */
function writeSections(
  document: string,
  sections: Readonly<Record<string, string | undefined>>,
): void {
  let text = readFileSync(document, 'utf8');
  for (const [name, content] of Object.entries(sections)) {
    if (content !== undefined) text = withSection(text, name, content);
  }
  writeFileSync(document, text);
}

function stamp(when: string, samples: readonly Pick<Sample, 'otherCpus'>[]): string {
  return `${when}. ${othersText(samples)}.`;
}

function othersText(samples: readonly Pick<Sample, 'otherCpus'>[]): string {
  const others = samples.map((it) => it.otherCpus);
  const most = Math.max(...others).toFixed(2);
  const found = `Other programs kept ${median(others).toFixed(2)} processors busy (median of the windows; at most ${most})`;
  return median(others) > QUIET ? `${found}: too many for exact figures` : found;
}

function withSection(text: string, name: string, content: string): string {
  const begin = `<!-- bench:${name} -->`;
  const end = `<!-- /bench:${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`there is no ${begin} and ${end}`);
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
}

function machineText({ machine, options, memory = [], durable = [] }: Results): string {
  const { at, commit, changed, processor, processors, memoryGiB, kernel, versions } = machine;
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `- ${at.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}${changed ? ' with changes' : ''}`,
    `- ${processors} processors (${processor}), ${memoryGiB} GiB, Linux ${kernel}`,
    `- ${used.join(', ')}`,
    `- ${options.rounds} rounds, windows of ${options.windowMs / 1000} s`,
    `- ${othersText([...memory, ...durable])}`,
  ].join('\n');
}

function withLoad(samples: readonly Sample[], load: string): readonly Sample[] {
  return samples.filter((it) => it.load === load);
}

function wrkTable(samples: readonly Sample[]): string {
  const windows = withLoad(samples, 'wrk');
  return windows.length > 0 ? table(windows) : 'Not measured in this run: wrk was not installed.';
}

function ratioTable(memory: readonly Sample[], durable: readonly Sample[]): string {
  const connections = [...new Set(memory.map((it) => it.connections))];
  const titles = ['', 'load', ...connections.map(String)];
  const line = ['---', '---', ...connections.map(() => '--:')];
  return markdown([titles, line, ...ratioRows(memory, durable)]);
}

function markdown(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function table(samples: readonly Sample[]): string {
  const summaries = summarise(samples);
  const database = summaries.some((it) => it.databaseUs !== undefined);
  const titles = [
    'connections',
    '',
    'creates/s',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'server µs: least',
    'median',
    ...(database ? ['database µs'] : []),
    'peak MiB',
    'failed',
  ];
  const line = titles.map((_, at) => (at === 1 ? '---' : '--:'));
  return markdown([titles, line, ...summaries.map((it) => row(it, database))]);
}

function row(summary: Summary, database: boolean): string[] {
  return [
    `${summary.connections}`,
    summary.subject,
    Math.round(summary.perSecond).toLocaleString('en'),
    summary.p50.toFixed(2),
    summary.p99.toFixed(2),
    summary.p999.toFixed(2),
    summary.serverUs.least.toFixed(1),
    summary.serverUs.median.toFixed(1),
    ...(database ? [(summary.databaseUs ?? Number.NaN).toFixed(1)] : []),
    `${summary.peakMemoryMib}`,
    `${summary.failed}`,
  ];
}

/** Medians over the rounds. */
function importTable(samples: readonly ImportSample[]): string {
  const subjects = [...new Set(samples.map(({ subject }) => subject))];
  const rows = subjects.map((subject) => {
    const rounds = samples.filter((it) => it.subject === subject);
    const of = (value: (sample: ImportSample) => number) => median(rounds.map(value));
    return [
      subject,
      Math.round(of((it) => it.perSecond)).toLocaleString('en'),
      of((it) => it.cpuTimesUs[0]).toFixed(1),
      of((it) => it.cpuTimesUs[1]).toFixed(1),
      `${Math.max(...rounds.map((it) => it.peakMemoryMib))}`,
    ];
  });
  const titles = ['', 'plants/s', 'own µs', 'database µs', 'peak MiB'];
  const line = ['---', '--:', '--:', '--:', '--:'];
  return markdown([titles, line, ...rows]);
}

function startUpText(taken: readonly number[]): string {
  const [least = 0] = taken;
  const text = (it: number) => `${Math.round(it)} ms`;
  return `Median ${text(median(taken))}, from ${text(least)} to ${text(taken.at(-1) ?? 0)}.`;
}

function drawing(memory: readonly Sample[], durable: readonly Sample[]): string {
  const inMemory = summarise(withLoad(memory, 'own'));
  const kept = summarise(withLoad(durable, 'own'));
  return chart([
    {
      title: 'CPU time of a create, in memory, 50 connections',
      unit: 'µs',
      bars: barsAt(inMemory, 50, (it) => it.serverUs.median),
    },
    {
      title: 'Durable creates each second, 50 connections',
      unit: '/s',
      bars: barsAt(kept, 50, (it) => it.perSecond),
    },
    {
      title: 'Durable creates each second, 200 connections',
      unit: '/s',
      bars: barsAt(kept, 200, (it) => it.perSecond),
    },
  ]);
}
