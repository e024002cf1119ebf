import { CONNECTIONS, type CompareOptions, compare, type Sample } from '../bench/compare.js';
import { cpuTime, type Measure, medianAndRange, perSecond, ratios } from '../bench/ratios.js';
import { mongodbStore } from '../bench/stores.js';
import { implementations, PLAIN } from '../implementations/implementations.js';
import type { Column } from './columns.js';

/** The number of connections at which CPU time is compared. */
const BUSY = 50;

/** Measures all implementations on one replica set of one member. Resolves with ratios to the plain implementation. */
export async function measureThroughput(options: CompareOptions): Promise<Column[]> {
  const store = await mongodbStore(implementations.map(({ subject }) => subject));
  const samples = await compare(store, options);
  await store.stop();
  return throughputColumns(samples);
}

export function throughputColumns(samples: readonly Sample[]): Column[] {
  const names = [...new Set(samples.map(({ subject }) => subject))];
  const cells = (connections: number, of: Measure) =>
    new Map(
      names.map((name) => {
        return [name, medianAndRange(ratios(samples, [name, PLAIN], connections, of))];
      }),
    );
  return [
    ...CONNECTIONS.map((connections) => ({
      title: `creates/s at ${connections}`,
      cells: cells(connections, perSecond),
    })),
    { title: `CPU at ${BUSY}`, cells: cells(BUSY, cpuTime) },
  ];
}
