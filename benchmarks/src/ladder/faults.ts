import { demo } from '../demo/demo.js';
import { type Figures, figuresOf, wrongOf } from '../demo/figures.js';
import type { Watch } from '../demo/watch.js';
import type { Column } from './columns.js';

/** How long the primary is killed, and how long it is frozen: longer than an election and a deadline. */
const SECONDS = 18;

/** Runs the demo this many times. Resolves with the sums. */
export async function measureFaults(rounds: number, watch: () => Watch): Promise<Column[]> {
  const runs: Figures[][] = [];
  for (let round = 0; round < rounds; round += 1)
    runs.push(figuresOf(await demo(SECONDS, watch())));
  return faultColumns(runs);
}

/** Returns the sums over runs of the demo. Each `of` names how many responses were compared. */
export function faultColumns(runs: readonly (readonly Figures[])[]): Column[] {
  const [names, faults] = [
    keysOf(runs, ({ name }) => [name]),
    keysOf(runs, (it) => Object.keys(it.faults)),
  ];
  const cells = (count: (figures: Figures) => number, all: (figures: Figures) => number) =>
    new Map(
      names.map((name) => {
        const own = runs.flat().filter((it) => it.name === name);
        return [name, `${total(own.map(count))} of ${total(own.map(all))}`];
      }),
    );
  const notStored = ({ outcomes }: Figures) => outcomes.failed;
  return [
    { title: 'wrong', cells: cells(wrongOf, ({ sent }) => sent) },
    ...faults.map((fault) => ({
      title: `unknown, ${fault}`,
      cells: cells(
        ({ faults }) => faults[fault]?.unknown ?? 0,
        ({ faults }) => faults[fault]?.responses ?? 0,
      ),
    })),
    { title: 'not stored', cells: cells(notStored, ({ sent }) => sent) },
  ];
}

function keysOf(
  runs: readonly (readonly Figures[])[],
  of: (figures: Figures) => string[],
): string[] {
  return [...new Set(runs.flat().flatMap(of))];
}

function total(counts: readonly number[]): string {
  return counts.reduce((sum, it) => sum + it, 0).toLocaleString('en');
}
