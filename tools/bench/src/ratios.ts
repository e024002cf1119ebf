import type { Sample } from './compare.js';
import { median } from './summary.js';

/** One measure of the service beside that of a peer: 1 means that both have the same. */
interface Ratio {
  readonly title: string;
  readonly peer: string;
  readonly of: (sample: Sample) => number;
}

const sum = (values: readonly number[]) => values.reduce((total, it) => total + it, 0);

const IN_MEMORY: readonly Ratio[] = [
  { title: 'CPU time, in memory', peer: 'Fastify', of: ({ cpuTimesUs }) => sum(cpuTimesUs) },
  { title: 'p99, in memory', peer: 'Fastify', of: ({ p99 }) => p99 },
];

const DURABLE: readonly Ratio[] = [
  {
    title: 'CPU time of service and database, durable',
    peer: 'Fastify + insertOne',
    of: ({ cpuTimesUs }) => sum(cpuTimesUs),
  },
  { title: 'creates each second, durable', peer: 'Fastify + insertOne', of: (it) => it.perSecond },
  { title: 'p50, durable', peer: 'Fastify + insertOne', of: ({ p50 }) => p50 },
  { title: 'p99, durable', peer: 'Fastify + insertOne', of: ({ p99 }) => p99 },
];

/** The cells of a table: each measure with each load, by connections. Medians over the rounds. */
export function ratioRows(memory: readonly Sample[], durable: readonly Sample[]): string[][] {
  return [
    ...IN_MEMORY.flatMap((it) => rowsOf(it, memory)),
    ...DURABLE.flatMap((it) => rowsOf(it, durable)),
  ];
}

function rowsOf(ratio: Ratio, samples: readonly Sample[]): string[][] {
  const loads = [...new Set(samples.map(({ load }) => load))];
  const connections = [...new Set(samples.map((it) => it.connections))];
  return loads.map((load) => [
    ratio.title,
    load,
    ...connections.map((count) =>
      medianRatio(
        ratio,
        samples.filter((it) => it.load === load && it.connections === count),
      ).toFixed(2),
    ),
  ]);
}

/** Both of a ratio are from the same round, so that they met the same state of the machine. */
function medianRatio({ peer, of }: Ratio, samples: readonly Sample[]): number {
  const rounds = [...new Set(samples.map(({ round }) => round))];
  const value = (subject: string, round: number) => {
    const sample = samples.find((it) => it.subject === subject && it.round === round);
    return sample === undefined ? Number.NaN : of(sample);
  };
  return median(rounds.map((round) => value('Plant Store', round) / value(peer, round)));
}
