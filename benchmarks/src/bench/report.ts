import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machine, writeSection } from '../documents.js';
import { markdownTable } from '../markdown-table.js';
import { root } from '../peers.js';
import { CONNECTIONS, type Sample } from './compare.js';
import { cpuTime, type Measure, medianAndRange, perSecond, ratios } from './ratios.js';

const PAGE = 'docs/evidence.md';
const SAMPLES = join(root, 'docs/performance.csv');
const SERVICE = 'Plant Store';
const BASE = 'base';

/** The samples of one run of the benchmark, by store. */
export type Results = ReadonlyMap<string, readonly Sample[]>;

const CPU: readonly [title: string, Measure] = ['CPU time', cpuTime];
const DURABLE = [['creates per second', perSecond], CPU] as const;
const COMPARED = [
  ['memory', 'in memory', ['Fastify', 'textbook Koa', 'with metrics', BASE], [CPU]],
  ['mongodb', 'MongoDB', ['Fastify + insertOne', 'Fastify + batching', BASE], DURABLE],
  ['postgresql', 'PostgreSQL', ['Fastify + INSERT', BASE], DURABLE],
] as const;

/** Returns the ratios of the service to its peers, and to another checkout if there is one. */
export function ratioTable(results: Results): string {
  const rows = COMPARED.flatMap(([store, title, peers, measures]) => {
    const samples = results.get(store) ?? [];
    const isMeasured = (peer: string) => samples.some(({ subject }) => subject === peer);
    return peers
      .filter(isMeasured)
      .flatMap((peer) =>
        measures.map(([measure, of]) => [
          `${measure}, ${title}`,
          peer,
          ...CONNECTIONS.map((connections) =>
            medianAndRange(ratios(samples, [SERVICE, peer], connections, of)),
          ),
        ]),
      );
  });
  return markdownTable([['', 'compared with', ...CONNECTIONS.map(String)], ...rows], 2);
}

const TITLES =
  'store,round,connections,subject,creates/s,p50 ms,p99 ms,server µs,database µs,failed';

/** Returns all samples as CSV. */
function sampleFile(results: Results): string {
  const rows = [...results].flatMap(([store, samples]) =>
    samples.map(({ round, connections, subject, cpuUs: [server = 0, database], ...it }) => {
      const [perSecond, ...cpuUs] = [it.perSecond, server, database].map((it) => it?.toFixed(0));
      const latencies = [it.p50.toFixed(2), it.p99.toFixed(2)];
      return [store, round, connections, subject, perSecond, ...latencies, ...cpuUs, it.failed];
    }),
  );
  return `${[TITLES, ...rows.map((cells) => cells.join(','))].join('\n')}\n`;
}

/** Replaces the measured sections of the pages, and docs/performance.csv. */
export function writeDocuments(results: Results, rounds: number, creates: number): void {
  const run = `${machine()}; rounds: ${rounds}; windows of ${creates} creates, with one connection a tenth.`;
  writeSection(PAGE, 'machine', run);
  writeSection(PAGE, 'ratios', ratioTable(results));
  writeFileSync(SAMPLES, sampleFile(results));
}
