import { peakMemoryMib } from './cpu-time.js';
import { type Load, type LoadFigures, ownLoad } from './load-process.js';

import { type Subject, start } from './subject.js';

/** The figures of one window of one subject. */
export interface Sample extends LoadFigures {
  readonly subject: string;
  /** The name of the {@link Load}. */
  readonly load: string;
  readonly connections: number;
  readonly round: number;
  /** The largest resident set of the server. */
  readonly peakMemoryMib: number;
}

/** How subjects are compared. */
export interface CompareOptions {
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly loads: readonly Load[];
  /** How long the code runs in, before the first window of a process. */
  readonly warmUpRunMs: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const WARM_UP_RUN = { connections: 50, warmUpMs: 0 };

/**
 * Measures subjects in turn, in several rounds, every second round in reverse order, so that other load on the
 * machine affects all of them.
 *
 * @param subjects Returns the subjects of a round.
 * @param databases The ids of the database processes, whose CPU time is measured too.
 */
export async function compare(
  subjects: (round: number) => readonly Subject[],
  databases: readonly number[],
  options: CompareOptions,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const inOrder = subjects(round);
    for (const subject of round % 2 === 0 ? inOrder : inOrder.toReversed()) {
      samples.push(...(await measure(subject, round, databases, options)));
    }
  }
  return samples;
}

/** Starts a subject once and measures it with each number of connections. */
export async function measure(
  subject: Subject,
  round: number,
  databases: readonly number[],
  { connections, loads, warmUpRunMs, warmUpMs, windowMs }: CompareOptions,
): Promise<Sample[]> {
  const { url, token, pid, stop } = await start(subject);
  const pids = [pid, ...databases];
  const samples: Sample[] = [];
  try {
    await ownLoad.run({ url, token, pids, ...WARM_UP_RUN, windowMs: warmUpRunMs });
    for (const count of connections) {
      for (const load of loads) {
        const window = { url, token, pids, connections: count, warmUpMs, windowMs };
        const figures = await load.run(window);
        const on = { subject: subject.name, load: load.name, connections: count, round };
        const sample = { ...on, ...figures };
        samples.push({ ...sample, peakMemoryMib: peakMemoryMib(pid) });
        process.stderr.write(`${line(sample)}\n`);
      }
    }
  } finally {
    await stop();
  }
  return samples;
}

function line(sample: Omit<Sample, 'peakMemoryMib'>): string {
  const { round, subject, load, connections, perSecond, p50, p99, cpuTimesUs, failed } = sample;
  return [
    `round ${round + 1}`,
    subject.padEnd(20),
    `${connections} connections`.padEnd(16),
    load,
    `${perSecond.toFixed(0)}/s`.padEnd(8),
    `p50 ${p50.toFixed(2)} ms`,
    `p99 ${p99.toFixed(2)} ms`,
    `${cpuTimesUs.map((it) => it.toFixed(1)).join(' + ')} us`,
    failed === 0 ? '' : `${failed} failed`,
    `others ${sample.otherCpus.toFixed(2)}`,
  ].join('  ');
}
