import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningSubject, root } from '../peers.js';

/** What wrk reports. Times are milliseconds. */
interface Responses {
  readonly requests: number;
  /** Responses other than 2xx, and lost connections. */
  readonly failed: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

/** The figures of one window of load. */
export interface WindowFigures extends Responses {
  readonly perSecond: number;
  /** The CPU time for one request in microseconds: of the server, then of the database. */
  readonly cpuUs: readonly number[];
}

export const sum = (values: readonly number[]) => values.reduce((total, it) => total + it, 0);

/** The kernel counts in hundredths of a second on every Linux on which Node.js runs. */
const TICK_US = 10_000;

/**
 * Returns the CPU time of a process and of those that it started, user and system, in microseconds. The kernel counts
 * the time of those that have ended as their parent's.
 */
export function cpuTimeUs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  const ofChildren = children.map((child) => cpuTimeUs(Number(child)));
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).map(Number);
  return sum(ofChildren) + sum(ticks) * TICK_US;
}

/** The script of wrk stops it after the last create. */
const LONG_ENOUGH = '10m';

/** Sends this many creates with random ids, one after the other on each connection. */
export async function load(
  { url, token, pid }: RunningSubject,
  databases: readonly number[],
  connections: number,
  creates: number,
): Promise<WindowFigures> {
  const pids = [pid, ...databases];
  const before = pids.map(cpuTimeUs);
  const { stdout } = await promisify(execFile)(...command(url, token, connections, creates));
  const responses: Responses = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{')));
  const requests = Math.max(1, responses.requests);
  return {
    ...responses,
    perSecond: responses.requests / responses.seconds,
    cpuUs: pids.map((it, index) => (cpuTimeUs(it) - (before[index] ?? 0)) / requests),
  };
}

function command(
  url: string,
  token: string,
  connections: number,
  creates: number,
): [string, string[]] {
  // Windows of the same second must not have the same ids.
  const seed = randomInt(2 ** 31);
  const script = `--script=${join(root, 'benchmarks/create-plants.lua')}`;
  const limits = ['--threads=1', `--connections=${connections}`, `--duration=${LONG_ENOUGH}`];
  return ['wrk', [...limits, script, url, '--', token, `${creates}`, `${seed}`]];
}
