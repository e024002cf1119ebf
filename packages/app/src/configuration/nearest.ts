/**
 * Returns the known name that was probably meant: the one with the fewest edits, if they are few for a name of this
 * length. An edit inserts, removes or replaces a character, or swaps two neighbours.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = name.length < 8 ? 1 : 2;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > fewest) continue;
    const edits = editsBetween(name, candidate);
    if (edits <= fewest) {
      best = candidate;
      fewest = edits - 1;
    }
  }
  return best;
}

/** Returns the optimal string alignment distance. */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped =
        a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
          ? at(beforeLast, column - 2) + 1
          : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, at(last, column) + 1, at(current, column - 1) + 1));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
