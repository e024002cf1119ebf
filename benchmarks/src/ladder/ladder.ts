import { Watch } from '../demo/watch.js';
import { machine, writeSection } from '../documents.js';
import { implementations } from '../implementations/implementations.js';
import { briefly, type Column, isInReadme, ladderTable } from './columns.js';
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
  contract: async () => [await contractColumn(implementations, say)],
  faults: ({ rounds }) => measureFaults(rounds, () => new Watch(say)),
  throughput: ({ rounds, creates }) => measureThroughput({ rounds, creates, warmUp: creates }),
};

/** What can be measured by itself, in the order of the columns. */
export const PARTS: readonly string[] = Object.keys(measurements);

/** Measures the implementations. Resolves with a table of each part. */
export async function ladder(options: LadderOptions): Promise<string> {
  const measured = new Map<string, readonly Column[]>();
  for (const part of options.parts) {
    const measure = measurements[part];
    if (measure === undefined) throw new Error(`--only: expected one of ${PARTS}, got "${part}"`);
    measured.set(part, await measure(options));
  }
  if (options.isWhole) writePages([...measured.values()].flat(), options.rounds);
  return [...measured.values()].map((columns) => `${tableOf(columns)}\n`).join('\n');
}

function writePages(columns: readonly Column[], rounds: number): void {
  const isSpeed = ({ title }: Column) => / at \d+$/.test(title);
  writeSection('README.md', 'ladder', tableOf(briefly(columns)));
  const page = 'docs/evidence.md';
  const faults = columns.filter((it) => !isSpeed(it) && !isInReadme(it));
  writeSection(page, 'ladder', tableOf(faults));
  writeSection(page, 'ladder-speed', tableOf(columns.filter(isSpeed)));
  writeSection(page, 'ladder-machine', `${machine()}; rounds: ${rounds}.`);
}

function tableOf(columns: readonly Column[]): string {
  const names = implementations.map(({ name }) => name);
  return ladderTable(names, columns);
}

function linesColumn(): Column {
  return {
    title: 'lines',
    cells: new Map(
      implementations.map(({ name, source }) => [name, linesIn(source).toLocaleString('en')]),
    ),
  };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
