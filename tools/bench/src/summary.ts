import type { Sample } from './compare.js';

/** The figures of one subject at one number of connections, over all rounds. */
export interface Summary {
  readonly subject: string;
  readonly connections: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** The CPU time of the server for one request. */
  readonly serverUs: { readonly least: number; readonly median: number };
  /** The CPU time of the database for one request. */
  readonly databaseUs: number | undefined;
  readonly failed: number;
  readonly peakMemoryMib: number;
}

/** Returns the medians over the rounds, sorted by connections and then in the order of the first round. */
export function summarise(samples: readonly Sample[]): Summary[] {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = `${sample.connections} ${sample.subject}`;
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return [...groups.values()].map(summary).sort((a, b) => a.connections - b.connections);
}

/** Returns the median of values; `NaN` when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function summary(samples: readonly Sample[]): Summary {
  const [first] = samples;
  const of = (value: (sample: Sample) => number) => samples.map(value);
  const serverUs = of((it) => it.cpuTimesUs[0] ?? Number.NaN);
  const databaseUs = of((it) => it.cpuTimesUs[1] ?? Number.NaN);
  return {
    subject: first?.subject ?? '',
    connections: first?.connections ?? 0,
    perSecond: median(of((it) => it.perSecond)),
    p50: median(of((it) => it.p50)),
    p99: median(of((it) => it.p99)),
    p999: median(of((it) => it.p999)),
    serverUs: { least: Math.min(...serverUs), median: median(serverUs) },
    databaseUs: first?.cpuTimesUs.length === 2 ? median(databaseUs) : undefined,
    failed: of((it) => it.failed).reduce((sum, it) => sum + it, 0),
    peakMemoryMib: Math.max(...of((it) => it.peakMemoryMib)),
  };
}
