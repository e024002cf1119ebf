import { expect } from 'chai';
import { type Markdown, readDocument, readDocuments } from '../markdown.js';
import { root } from '../root.js';

const index = readDocument(root, 'docs/decisions/README.md');
const decisions = readDocuments(root).filter(({ path }) => /\/decisions\/\d{4}-/.test(path));

const PARTS = /^\*\*Context\.\*\*\s.*^\*\*Decision\.\*\*\s.*^\*\*Consequence\.\*\*\s/ms;

/** The words of half a page, without its tables. */
const MAX_WORDS = 400;
const TABLE_ROWS = /^\|.*$/gm;

describe('The decisions', () => {
  it('have a number, half a page of context, decision and consequence, and a line in the index', () => {
    const prose = `# 8. Koa\n${'word '.repeat(MAX_WORDS)}`;
    const wrong = { path: 'd/0007-koa.md', prose, blocks: [] };
    expect(problemsOf(wrong, '')).to.deep.equal([
      'd/0007-koa.md has another number',
      'd/0007-koa.md is not in the index',
      'd/0007-koa.md lacks a part',
      'd/0007-koa.md is too long',
    ]);
    expect(decisions).to.have.lengthOf.above(10);
    expect(decisions.flatMap((it) => problemsOf(it, index.prose))).to.deep.equal([]);
  });
});

function problemsOf({ path, prose }: Markdown, lines: string): string[] {
  const file = path.slice(path.lastIndexOf('/') + 1);
  const [, title = '', number = ''] = /^# ((\d+)\. .+)\n/.exec(prose) ?? [];
  const rules: Record<string, boolean> = {
    'has another number': file.startsWith(`${number.padStart(4, '0')}-`),
    'is not in the index': lines.includes(`[${title}](${file})`),
    'lacks a part': PARTS.test(prose),
    'is too long': prose.replace(TABLE_ROWS, '').split(/\s+/).length <= MAX_WORDS,
  };
  return Object.entries(rules)
    .filter(([, holds]) => !holds)
    .map(([problem]) => `${path} ${problem}`);
}
