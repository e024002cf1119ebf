import { expect } from 'chai';
import { PAGE, shownLines } from '../src/bench/rings.js';
import { readSection } from '../src/documents.js';

/** How far a page may be from the code before somebody runs `npm run bench -- lines`. */
const TOLERANCE = 0.05;

/** Returns the rows of a table: the words, and the last number. */
const rowsOf = (table: string) =>
  [...table.matchAll(/^\| (.*) \| *([\d,]+) \|$/gm)].map(([, words = '', lines = '']) => {
    return { words: words.replaceAll(/[ |]+/g, ' '), lines: Number(lines.replaceAll(',', '')) };
  });

describe('The lines of code', () => {
  it(`are about as many as ${PAGE} shows`, () => {
    const { shown, counted } = shownLines();
    const [rows, expected] = [rowsOf(shown), rowsOf(counted)];
    expect(rows.map(({ words }) => words)).to.deep.equal(expected.map(({ words }) => words));
    for (const [index, { words, lines }] of expected.entries())
      expect(rows[index]?.lines, words).to.be.closeTo(lines, Math.max(5, lines * TOLERANCE));
  });
});

/** The sections that `npm run bench` writes. */
const SECTIONS = {
  'README.md': ['ladder'],
  'docs/architecture.md': ['packages'],
  'docs/evidence.md': ['ladder', 'ladder-speed', 'ladder-machine', 'ratios', 'machine'],
};

describe('The pages with figures', () => {
  for (const [page, names] of Object.entries(SECTIONS)) {
    it(`have the markers between which they are written: ${page}`, () => {
      for (const name of names) expect(readSection(page, name), name).not.to.equal('');
    });
  }
});
