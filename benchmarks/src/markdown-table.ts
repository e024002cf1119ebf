/**
 * Returns rows as a Markdown table that is readable even as plain text. The first row has the titles.
 *
 * @param texts How many of the first columns are aligned to the left. The others are aligned to the right.
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
