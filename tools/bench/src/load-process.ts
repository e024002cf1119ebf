import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Used } from './stopwatch.js';

/** The server, the connections and the times of a load. */
export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  /** The time between the opening of all connections and the window. */
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** Whose CPU time is measured: the server first, then the database. */
  readonly pids: readonly number[];
}

/** What a load generator has seen in its window. */
export interface Responses {
  readonly requests: number;
  /** Responses other than 2xx, and lost connections. */
  readonly failed: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** The figures of one window of load. */
export interface LoadFigures extends Responses {
  readonly perSecond: number;
  /** The CPU time of each process for one request, in microseconds. */
  readonly cpuTimesUs: readonly number[];
  /** How many CPUs the load generator kept busy. */
  readonly loadCpus: number;
  /** How many CPUs other programs kept busy. */
  readonly otherCpus: number;
}

/** What sends the requests. */
export interface Load {
  readonly name: string;
  run(options: LoadOptions): Promise<LoadFigures>;
}

const program = fileURLToPath(new URL('load.js', import.meta.url));

/** The load generator of the benchmark, a process of its own. */
export const ownLoad: Load = {
  name: 'own',
  async run(options) {
    const child = fork(program);
    child.send(options);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the load generator ended with ${code}`);
    });
    const [figures] = await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined);
    return figures as LoadFigures;
  },
};

/** The figures of a window, from what was seen and what was used. */
export function loadFigures(responses: Responses, used: Used): LoadFigures {
  const { elapsed, processes, load, others } = used;
  return {
    ...responses,
    perSecond: (responses.requests * 1e6) / elapsed,
    cpuTimesUs: processes.map((it) => it / Math.max(1, responses.requests)),
    loadCpus: load / elapsed,
    otherCpus: others / elapsed,
  };
}
