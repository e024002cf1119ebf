import { Watch } from '../demo/watch.js';
import { machine, writeSection } from '../documents.js';
import { rungs } from '../rungs/rungs.js';
import { type Column, ladderTable } from './columns.js';
import { contractColumn } from './contract.js';
import { measureFaults } from './faults.js';
import { linesIn } from './lines.js';
import { measureThroughput } from './throughput.js';

export interface LadderOptions {
  /** Some of {@link PARTS}. */
  readonly parts: readonly string[];
  readonly rounds: number;
  /** The creates in each measured window; a tenth of them with one connection. */
  readonly creates: number;
  /** Whether the pages with the table are updated. */
  readonly isWhole: boolean;
}

const measurements: Readonly<Record<string, (options: LadderOptions) => Promise<Column[]>>> = {
  lines: async () => [linesColumn()],
  contract: async () => [await contractColumn(rungs, say)],
  faults: ({ rounds }) => measureFaults(rounds, () => new Watch(say)),
  throughput: ({ rounds, creates }) => measureThroughput({ rounds, creates, warmUp: creates }),
};

/** What can be measured by itself, in the order of the columns. */
export const PARTS: readonly string[] = Object.keys(measurements);

/** The columns that the README shows. */
const BRIEF = ['lines', 'wrong', 'unknown, killed', 'creates/s at 50'];

/** Measures the rungs. Resolves with the table. */
export async function ladder(options: LadderOptions): Promise<string> {
  const columns: Column[] = [];
  for (const part of options.parts) {
    const measure = measurements[part];
    if (measure === undefined) throw new Error(`--only: expected one of ${PARTS}, got "${part}"`);
    columns.push(...(await measure(options)));
  }
  const names = rungs.map(({ name }) => name);
  const table = ladderTable(names, columns);
  if (options.isWhole) {
    const brief = columns.filter(({ title }) => BRIEF.includes(title));
    writeSection('README.md', 'ladder', ladderTable(names, brief));
    writeSection('docs/evidence.md', 'ladder', table);
    writeSection('docs/evidence.md', 'ladder-machine', `${machine()}; rounds: ${options.rounds}.`);
  }
  return `${table}\n`;
}

function linesColumn(): Column {
  return {
    title: 'lines',
    cells: new Map(rungs.map(({ name, source }) => [name, linesIn(source).toLocaleString('en')])),
  };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
