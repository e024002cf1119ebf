// The load generator runs in a process of its own, so that its CPU time is separate from that of the server.
import { setTimeout as wait } from 'node:timers/promises';
import { cpuTimeUs } from './cpu-time.js';
import { CreatingConnection } from './creating-connection.js';
import { type LoadFigures, type LoadOptions, loadFigures, type Responses } from './load-process.js';
import { startStopwatch } from './stopwatch.js';

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
  const stop = startStopwatch(pids, () => cpuTimeUs(process.pid));
  await wait(windowMs);
  const used = stop();
  const responses = summary(latencies, failed);
  for (const connection of opened) connection.end();
  return loadFigures(responses, used);
}

/** Opens 100 at a time, because Node.js accepts one connection in each turn of the event loop. */
async function openAll<T>(count: number, open: () => Promise<T>): Promise<T[]> {
  const opened: T[] = [];
  while (opened.length < count) {
    const some = Math.min(100, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: some }, open))));
  }
  return opened;
}

function summary(latencies: readonly number[], failed: number): Responses {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return { requests: sorted.length, failed, p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}
