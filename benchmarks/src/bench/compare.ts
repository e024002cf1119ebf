import { type Subject, start } from '../peers.js';
import { type Figures, load } from './load.js';
import type { Store } from './stores.js';

/** The figures of one window of one subject. */
export interface Sample extends Figures {
  readonly subject: string;
  readonly connections: number;
  readonly round: number;
}

export interface CompareOptions {
  readonly rounds: number;
  /** The creates in each measured window; a tenth of them with one connection. */
  readonly creates: number;
}

export const CONNECTIONS: readonly number[] = [1, 50, 200];

const WARM_UP_CONNECTIONS = 50;
const WARM_UP_CREATES = 30_000;

/**
 * Measures the subjects of a database in turn, in several rounds, every second round in reverse order, so that other
 * load on the machine affects all of them. Each round has new processes, and the numbers of creates are fixed: in a
 * fixed time, a process that gets less of the machine would be measured while its code is compiled.
 */
export async function compare(
  { databases, subjects }: Store,
  { rounds, creates }: CompareOptions,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const inOrder = await subjects(round);
    for (const subject of round % 2 === 0 ? inOrder : inOrder.toReversed()) {
      samples.push(...(await measure(subject, databases, round, creates)));
    }
  }
  return samples;
}

async function measure(
  subject: Subject,
  databases: readonly number[],
  round: number,
  creates: number,
): Promise<Sample[]> {
  const running = await start(subject);
  const samples: Sample[] = [];
  try {
    await load(running, databases, WARM_UP_CONNECTIONS, WARM_UP_CREATES);
    for (const connections of CONNECTIONS) {
      const figures = await load(
        running,
        databases,
        connections,
        connections === 1 ? creates / 10 : creates,
      );
      samples.push({ ...figures, subject: subject.name, connections, round });
      process.stderr.write(`${JSON.stringify(samples.at(-1))}\n`);
    }
  } finally {
    await running.stop();
  }
  return samples;
}

/** Returns the median of values; `NaN` when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
