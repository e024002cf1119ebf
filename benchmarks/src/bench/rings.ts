import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSection, writeSection } from '../documents.js';
import { ownLines, packageFolders, sum } from '../ladder/lines.js';
import { markdownTable } from '../markdown-table.js';
import { root } from '../peers.js';

/** The pages with tables of the packages and their lines of code, and the section of each. */
const PAGES = [
  ['docs/architecture.md', 'rings'],
  ['docs/architecture.md', 'packages'],
] as const;

/** Counts the lines of code of each ring and package, and updates the pages. Returns the tables. */
export function writeLines(): string {
  const tables = linesTables();
  for (const [page, name] of PAGES) writeSection(page, name, tables[name]);
  return `${tables.rings}\n\n${tables.packages}\n`;
}

/** Returns what the pages show now, and what the code would make of it. */
export function shownLines(): { page: string; shown: string; counted: string }[] {
  const tables = linesTables();
  return PAGES.map(([page, name]) => ({
    page,
    shown: readSection(page, name),
    counted: tables[name],
  }));
}

function linesTables() {
  const counts = [...packageFolders()].map(([name, folder]) => {
    const { description } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const link = `[\`${name}\`](../${folder})`;
    return { link, description, ring: folder.split('/')[1] ?? '', lines: ownLines(folder) };
  });
  const ringRow = (ring: string) => {
    const own = counts.filter((it) => it.ring === ring).map(({ lines }) => lines);
    return [ring, `${own.length}`, inThousands(sum(own))];
  };
  const rings = new Set(counts.map(({ ring }) => ring));
  return {
    rings: markdownTable([['ring', 'packages', 'lines'], ...[...rings].map(ringRow)]),
    packages: markdownTable(
      [
        ['ring', 'package', 'what it does', 'lines'],
        ...counts.map(({ ring, link, description, lines }) => {
          return [ring, link, description, inThousands(lines)];
        }),
      ],
      3,
    ),
  };
}

const inThousands = (lines: number) => lines.toLocaleString('en');
