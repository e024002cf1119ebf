import { markdownTable } from '../markdown-table.js';

/** A column of the ladder's table. */
export interface Column {
  readonly title: string;
  /** By the name of the rung. */
  readonly cells: ReadonlyMap<string, string>;
}

/** Returns the table of the ladder: a row for each rung. */
export function ladderTable(names: readonly string[], columns: readonly Column[]): string {
  return markdownTable([
    ['rung', ...columns.map(({ title }) => title)],
    ...names.map((name) => [name, ...columns.map(({ cells }) => cells.get(name) ?? '')]),
  ]);
}
