import { markdownTable } from '../markdown-table.js';

/** A column of the ladder's table. */
export interface Column {
  readonly title: string;
  /** By the name of the implementation. */
  readonly cells: ReadonlyMap<string, string>;
}

/** The titles in the README of the columns that it shows. */
const BRIEF: ReadonlyMap<string, string> = new Map([
  ['lines', 'lines of code'],
  ['wrong', 'wrong responses'],
  ['unknown, killed', 'unknown, primary killed'],
  ['creates/s at 50', 'creates/s, 50 clients'],
]);

/** Returns the table of the ladder: a row for each implementation. */
export function ladderTable(names: readonly string[], columns: readonly Column[]): string {
  return markdownTable([
    ['implementation', ...columns.map(({ title }) => title)],
    ...names.map((name) => [name, ...columns.map(({ cells }) => cells.get(name) ?? '')]),
  ]);
}

/** Whether the README shows a column as it is. */
export const isInReadme = ({ title }: Column): boolean => BRIEF.has(title);

/** Returns the columns for the README, without the ranges of ratios. */
export function briefly(columns: readonly Column[]): Column[] {
  return columns.flatMap(({ title, cells }) => {
    const brief = BRIEF.get(title);
    const medians = [...cells].map(([name, cell]) => [name, cell.replace(/ \(.*/, '')] as const);
    return brief === undefined ? [] : [{ title: brief, cells: new Map(medians) }];
  });
}
