// A process of its own, so that it takes no time from the one that is measured.
import { setTimeout as wait } from 'node:timers/promises';
import { CreatingConnection } from './creating-connection.js';
import type { LoadFigures, LoadOptions } from './load-process.js';
import { allProcessorTime, processorTime } from './processor-time.js';

process.once('message', (options: LoadOptions) => {
  void load(options).then((figures) => {
    process.send?.(figures, () => process.disconnect());
  });
});

async function load(options: LoadOptions): Promise<LoadFigures> {
  const { url, token, connections, warmUpMs, windowMs, pids } = options;
  let latencies: number[] = [];
  let failed = 0;
  const onResponse = (milliseconds: number, stored: boolean) => {
    latencies.push(milliseconds);
    if (!stored) failed += 1;
  };
  const opened = await openAll(connections, () =>
    CreatingConnection.open(new URL(url), token, onResponse),
  );
  for (const connection of opened) connection.send();
  await wait(warmUpMs);
  latencies = [];
  failed = 0;
  const before = clocks(pids);
  await wait(windowMs);
  const after = clocks(pids);
  const seen = latencies;
  for (const connection of opened) connection.end();
  return summary(
    seen,
    failed,
    after.map((value, at) => value - (before[at] ?? 0)),
    pids.length,
  );
}

/** Some at a time: Node accepts one connection in each turn of its loop. */
async function openAll<T>(count: number, open: () => Promise<T>): Promise<T[]> {
  const opened: T[] = [];
  while (opened.length < count) {
    const some = Math.min(100, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: some }, open))));
  }
  return opened;
}

/** The time, then what each process, this one and the whole machine have used, in microseconds. */
function clocks(pids: readonly number[]): number[] {
  return [
    performance.now() * 1000,
    ...pids.map(processorTime),
    processorTime(process.pid),
    allProcessorTime(),
  ];
}

function summary(
  latencies: number[],
  failed: number,
  spent: readonly number[],
  processes: number,
): LoadFigures {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  const [elapsed = 1, ...used] = spent;
  const all = used.pop() ?? 0;
  const others = all - used.reduce((sum, it) => sum + it, 0);
  const perRequest = (it: number) => it / Math.max(1, sorted.length);
  return {
    requests: sorted.length,
    failed,
    perSecond: (sorted.length * 1e6) / elapsed,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    processors: used.slice(0, processes).map(perRequest),
    loadProcessor: (used[processes] ?? 0) / elapsed,
    otherProcessors: Math.max(0, others / elapsed),
  };
}
