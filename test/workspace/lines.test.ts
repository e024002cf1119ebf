import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { filesBelow, readDocument } from '../markdown.js';
import { root } from '../root.js';

/** How far a figure of the README may be from the source: a tenth, and in a small package this many lines, such as those of a tutorial. */
const [SHARE, LEAST] = [0.1, 40];

const ROW = /^\| \[?(\w[\w-]*)(?:\]\(\S+\))? \|[^|]*\| ([\d,]+) \+ ([\d,]+) \|$/gm;

type Lines = readonly [code: number, other: number];

/** Counts the lines of code in the sources of a package; the others are comments and blank. */
function linesIn(folder: string): Lines {
  const texts = filesBelow(join(root, 'packages', folder, 'src'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(file, 'utf8'));
  const all = texts.join('').split('\n').length - 1;
  const withoutComments = texts.join('').replaceAll(/^ *(?:\/\/.*|\/\*[\s\S]*?\*\/)$/gm, '');
  const code = withoutComments.split('\n').filter((line) => line.trim() !== '').length;
  return [code, all - code];
}

describe('The table of the packages in the README', () => {
  const [, table = ''] = readDocument(root, 'README.md').prose.split('\n| package |');
  const rows = [...(table.split('\n\n')[0] ?? '').matchAll(ROW)].map(
    ([, name = '', ...figures]) =>
      [name, figures.map((it) => Number(it.replace(',', '')))] as const,
  );
  const packages = rows.slice(0, -1);

  it('has the lines of each package, to within a tenth', () => {
    const names = packages.map(([name]) => name);
    // A tutorial adds a package.
    expect(readdirSync(join(root, 'packages')))
      .to.include.members(names)
      .and.have.length.below(16);
    expect(names).to.have.length.above(13);
    const far = packages.flatMap(([name, shown]) => {
      const now = linesIn(name);
      const isNear = now.every(
        (lines, at) => Math.abs(lines - (shown[at] ?? 0)) <= Math.max(lines * SHARE, LEAST),
      );
      return isNear ? [] : [`${name}: ${now.join(' + ')}`];
    });
    expect(far, 'rows to correct, with the sums below them').to.deep.equal([]);
  });

  it('has their sums', () => {
    const sums = [0, 1].map((at) => packages.reduce((sum, [, lines]) => sum + (lines[at] ?? 0), 0));
    expect(rows.at(-1)).to.deep.equal(['all', sums]);
  });
});
