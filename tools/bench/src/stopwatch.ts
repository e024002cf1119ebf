import { cpuTimeUs, totalCpuTimeUs } from './cpu-time.js';

/** The CPU time that was used while a stopwatch ran, in microseconds. */
export interface Used {
  readonly elapsed: number;
  /** Of each measured process. */
  readonly processes: readonly number[];
  readonly load: number;
  /** Of all other programs. */
  readonly others: number;
}

/**
 * Starts measuring, and returns the function that ends it.
 *
 * @param pids The processes that are measured.
 * @param loadTime Returns the CPU time of the load generator so far, in microseconds.
 */
export function startStopwatch(pids: readonly number[], loadTime: () => number): () => Used {
  const now = () => [
    performance.now() * 1000,
    totalCpuTimeUs(),
    loadTime(),
    ...pids.map(cpuTimeUs),
  ];
  const before = now();
  return function stop() {
    const differences = now().map((it, at) => it - (before[at] ?? 0));
    const [elapsed = 0, all = 0, load = 0, ...processes] = differences;
    const others = all - load - processes.reduce((sum, it) => sum + it, 0);
    return { elapsed, processes, load, others: Math.max(0, others) };
  };
}
