/**
 * Returns rows, of which the first has the titles, as a Markdown table that is readable even as plain text.
 *
 * @param texts How many columns begin at the left. The others end at the right.
 */
export function markdownTable(rows: readonly (readonly string[])[], texts = 1): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const rule = widths.map((width, column) => {
    return column < texts ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`;
  });
  const [titles = [], ...others] = rows;
  return [titles, rule, ...others]
    .map((row) =>
      row.map((cell, column) => {
        const width = widths[column] ?? 0;
        return column < texts ? cell.padEnd(width) : cell.padStart(width);
      }),
    )
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
