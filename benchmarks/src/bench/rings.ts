import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSection, writeSection } from '../documents.js';
import { ownLines, packageFolders, sum } from '../ladder/lines.js';
import { markdownTable } from '../markdown-table.js';
import { root } from '../peers.js';

/** The page with the table of the packages and their lines of code, and its section. */
export const PAGE = 'docs/architecture.md';
const SECTION = 'packages';

/** Counts the lines of code of each ring and package, and updates the page. Returns the table. */
export function writeLines(): string {
  writeSection(PAGE, SECTION, linesTable());
  return `${linesTable()}\n`;
}

/** Returns what the page shows now, and what the code would make of it. */
export function shownLines(): { shown: string; counted: string } {
  return { shown: readSection(PAGE, SECTION), counted: linesTable() };
}

/** Returns a table of the rings, each followed by its packages. */
function linesTable(): string {
  const counts = [...packageFolders()].map(([name, folder]) => {
    const { description } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const [, ring = ''] = folder.split('/');
    return { ring, cells: [`[\`${name}\`](../${folder})`, description], lines: ownLines(folder) };
  });
  const rows = [...new Set(counts.map(({ ring }) => ring))].flatMap((ring) => {
    const own = counts.filter((it) => it.ring === ring);
    const all = sum(own.map(({ lines }) => lines));
    return [
      [`**${ring}**`, `**${own.length} packages**`, inThousands(all)],
      ...own.map(({ cells, lines }) => [...cells, inThousands(lines)]),
    ];
  });
  return markdownTable([['package', 'what it does', 'lines'], ...rows], 2);
}

const inThousands = (lines: number) => lines.toLocaleString('en');
