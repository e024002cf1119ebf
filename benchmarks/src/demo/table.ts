import { markdownTable } from '../markdown-table.js';
import type { Figures } from './figures.js';
import { type ComparedOutcome, OUTCOMES, WRONG } from './outcomes.js';

const LEGEND = `! marks wrong responses: the reply was lost after the insert. A run may have none.
Waits are the longest for a response since the fault.`;

/** Returns the figures as a table in Markdown that fits a terminal of 80 columns. Its columns are numbered. */
export function table(figures: readonly Figures[]): string {
  const faults = Object.keys(figures[0]?.faults ?? {});
  const rows = [
    ['', ...figures.map((_, index) => `${index + 1}`)],
    ['creates', ...figures.map(({ sent }) => number(sent))],
    ...(Object.keys(OUTCOMES) as ComparedOutcome[]).map((it) => [
      WRONG.includes(it) ? `! ${OUTCOMES[it]}` : OUTCOMES[it],
      ...figures.map(({ outcomes }) => number(outcomes[it])),
    ]),
    ...faults.map((fault) => [
      `wait: ${fault}`,
      ...figures.map(({ faults }) => seconds(faults[fault]?.longestWaitMs ?? 0)),
    ]),
  ];
  const names = figures.map(({ name }, index) => `${index + 1}  ${name}`);
  return `${names.join('\n')}\n\n${markdownTable(rows)}\n\n${LEGEND}`;
}

/** Returns a line about this process, which measures the waits, and competes for the CPUs. */
export function stallLine(longestStallMs: number): string {
  return `This process stalled for at most ${longestStallMs} ms, by which a wait can be too long.`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
