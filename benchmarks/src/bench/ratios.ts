import type { Sample } from './compare.js';
import { sum } from './load.js';

/** A figure of a window. */
export type Measure = (sample: Sample) => number;

export const perSecond: Measure = (sample) => sample.perSecond;

/** The CPU time for one create, of the server and of the database. */
export const cpuTime: Measure = ({ cpuUs }) => sum(cpuUs);

/** Returns the ratio of a subject to another in each round, with this many connections. */
export function ratios(
  samples: readonly Sample[],
  [subject, other]: readonly [string, string],
  connections: number,
  of: Measure,
): number[] {
  const here = samples.filter((it) => it.connections === connections);
  const others = new Map(
    here.filter((it) => it.subject === other).map((it) => [it.round, of(it)] as const),
  );
  return here
    .filter((it) => it.subject === subject)
    .map((it) => of(it) / (others.get(it.round) ?? Number.NaN));
}

/** Returns the median of ratios and, with more than one, their range. */
export function medianAndRange(values: readonly number[]): string {
  const middle = median(values).toFixed(2);
  if (values.length === 1) return middle;
  return `${middle} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;
}

/** Returns the median of values; `NaN` when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
