import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  /** After all connections are open and before the window, in milliseconds. */
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** Whose processor time is measured: the server first, then the database. */
  readonly pids: readonly number[];
}

export interface LoadFigures {
  readonly requests: number;
  /** Responses other than 2xx, and lost connections. */
  readonly failed: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Microseconds of each process for a request. */
  readonly processors: readonly number[];
  /** Processors that the load generator kept busy. */
  readonly loadProcessor: number;
  /** Processors kept busy by what has no part in the benchmark. */
  readonly otherProcessors: number;
}

const program = fileURLToPath(new URL('load.js', import.meta.url));

/** Puts a server under load from another process. */
export async function runLoad(options: LoadOptions): Promise<LoadFigures> {
  const child = fork(program);
  child.send(options);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the load generator ended with ${code}`);
  });
  const [figures] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return figures as LoadFigures;
}
