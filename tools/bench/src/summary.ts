import type { Sample } from './compare.js';

/** What the rounds of one subject at one number of connections come to. */
export interface Summary {
  readonly subject: string;
  readonly connections: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Microseconds of the server for a request. */
  readonly processor: { readonly least: number; readonly median: number };
  /** Microseconds of the database for a request. */
  readonly database: number | undefined;
  readonly failed: number;
  readonly peakMemory: number;
}

/** Medians over the rounds, by connections and then as the subjects came in the first round. */
export function summarise(samples: readonly Sample[]): Summary[] {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = `${sample.connections} ${sample.subject}`;
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return [...groups.values()].map(summary).sort((a, b) => a.connections - b.connections);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function summary(samples: readonly Sample[]): Summary {
  const [first] = samples;
  const of = (value: (sample: Sample) => number) => samples.map(value);
  const processor = of((it) => it.processors[0] ?? Number.NaN);
  const database = of((it) => it.processors[1] ?? Number.NaN);
  return {
    subject: first?.subject ?? '',
    connections: first?.connections ?? 0,
    perSecond: median(of((it) => it.perSecond)),
    p50: median(of((it) => it.p50)),
    p99: median(of((it) => it.p99)),
    p999: median(of((it) => it.p999)),
    processor: { least: Math.min(...processor), median: median(processor) },
    database: first?.processors.length === 2 ? median(database) : undefined,
    failed: of((it) => it.failed).reduce((sum, it) => sum + it, 0),
    peakMemory: Math.max(...of((it) => it.peakMemory)),
  };
}
