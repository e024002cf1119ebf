import { allProcessorTime, processorTime } from './processor-time.js';

/** What was used of the processors while a stopwatch ran, in microseconds. */
export interface Used {
  readonly elapsed: number;
  /** Of each process that is measured. */
  readonly processes: readonly number[];
  readonly load: number;
  /** Of all that has no part in the benchmark. */
  readonly others: number;
}

/**
 * Starts measuring, and returns the function that ends it.
 *
 * @param pids The processes that are measured.
 * @param loadTime What the load generator has used so far, in microseconds.
 */
export function startStopwatch(pids: readonly number[], loadTime: () => number): () => Used {
  const now = () => [
    performance.now() * 1000,
    allProcessorTime(),
    loadTime(),
    ...pids.map(processorTime),
  ];
  const before = now();
  return function stop() {
    const differences = now().map((it, at) => it - (before[at] ?? 0));
    const [elapsed = 0, all = 0, load = 0, ...processes] = differences;
    const others = all - load - processes.reduce((sum, it) => sum + it, 0);
    return { elapsed, processes, load, others: Math.max(0, others) };
  };
}
