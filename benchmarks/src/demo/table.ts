import type { Figures } from './figures.js';
import { OUTCOMES, type Outcome, WRONG } from './outcomes.js';

const LEGEND = '! marks wrong responses. Waits are the longest for a response since the fault.';

/** Returns the figures as a table in Markdown that fits a terminal of 80 columns. Its columns are numbered. */
export function table(figures: readonly Figures[]): string {
  const outcomes = Object.keys(OUTCOMES) as Outcome[];
  const faults = Object.keys(figures[0]?.longestWaitMs ?? {});
  const rows = [
    ['', ...figures.map((_, index) => `${index + 1}`)],
    ['creates', ...figures.map(({ sent }) => number(sent))],
    ...outcomes.map((it) => [titleOf(it), ...figures.map(({ outcomes }) => number(outcomes[it]))]),
    ...faults.map((fault) => [
      `wait: ${fault}`,
      ...figures.map(
        ({ longestWaitMs }) => `${((longestWaitMs[fault] ?? 0) / 1_000).toFixed(1)} s`,
      ),
    ]),
  ];
  const names = figures.map(({ name }, index) => `${index + 1}  ${name}`);
  return `${names.join('\n')}\n\n${aligned(rows)}\n\n${LEGEND}`;
}

/** Returns a line about this process, which measures the waits, and competes for the CPUs. */
export function stallLine(longestStallMs: number): string {
  return `This process stalled for at most ${longestStallMs} ms, by which a wait can be too long.`;
}

function titleOf(outcome: Outcome): string {
  return WRONG.includes(outcome) ? `! ${OUTCOMES[outcome]}` : OUTCOMES[outcome];
}

function number(value: number): string {
  return value.toLocaleString('en');
}

/** The first column begins at the left, and the others end at the right. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `| ${cells.join(' | ')} |`;
  });
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [lines[0], `| ${rule.join(' | ')} |`, ...lines.slice(1)].join('\n');
}
