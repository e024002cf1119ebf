import { type RunningSubject, start } from '../peers.js';
import { load, type WindowFigures } from './load.js';
import type { MeasuredStore } from './stores.js';

/** The figures of one window of one subject. */
export interface Sample extends WindowFigures {
  readonly subject: string;
  readonly connections: number;
  readonly round: number;
}

export interface CompareOptions {
  readonly rounds: number;
  /** The creates in each measured window; a tenth of them with one connection. */
  readonly creates: number;
  /** The creates before the first window of a process. */
  readonly warmUp: number;
}

export const CONNECTIONS: readonly number[] = [1, 50, 200];

const WARM_UP_CONNECTIONS = 50;
/** V8 compiles what has run thousands of times. A store that batches runs its inserts so often only with one connection. */
const LONE_WARM_UP = 4_000;

/**
 * Measures the subjects of a store in several rounds: each window of one subject is next to the windows of the others,
 * every second round in reverse order, so that other load on the machine affects all of them. Each round has new
 * processes, and the numbers of creates are fixed: in a fixed time, a process that gets less of the machine would be
 * measured while its code is compiled.
 */
export async function compare(store: MeasuredStore, options: CompareOptions): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    samples.push(...(await measure(store, round, options)));
  }
  return samples;
}

async function measure(
  { databases, subjects }: MeasuredStore,
  round: number,
  { creates, warmUp }: CompareOptions,
): Promise<Sample[]> {
  const started: [name: string, RunningSubject][] = [];
  for (const it of await subjects(round)) started.push([it.name, await start(it)]);
  for (const [, it] of started) {
    await load(it, databases, WARM_UP_CONNECTIONS, warmUp);
    await load(it, databases, 1, Math.min(warmUp, LONE_WARM_UP));
  }
  const samples: Sample[] = [];
  for (const connections of CONNECTIONS) {
    const window = connections === 1 ? creates / 10 : creates;
    for (const [subject, it] of round % 2 === 0 ? started : started.toReversed()) {
      const figures = await load(it, databases, connections, window);
      samples.push({ ...figures, subject, connections, round });
      process.stderr.write(`${JSON.stringify(samples.at(-1))}\n`);
    }
  }
  for (const [, it] of started) await it.stop();
  return samples;
}
