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
  it('are found', () => {
    expect(decisions).to.have.lengthOf.above(10);
  });

  it('have a number, half a page of context, decision and consequence, and a line in the index', () => {
    expect(decisions.flatMap((it) => problemsOf(it, index.prose))).to.deep.equal([]);
  });
});

/** Decisions with each kind of problem. */
describe('The check of the decisions', () => {
  const decision = (prose: string): Markdown => ({ path: 'd/0007-koa.md', prose, blocks: [] });
  const prose = '# 7. Koa\n\n**Context.** A\n\n**Decision.** B\n\n**Consequence.** C\n';
  const line = '[7. Koa](0007-koa.md)';

  it('finds no problem in a valid decision', () => {
    expect(problemsOf(decision(prose), line)).to.deep.equal([]);
  });

  const wrong: Record<string, readonly [prose: string, index: string]> = {
    'has another number': [prose.replace('7', '8'), '[8. Koa](0007-koa.md)'],
    'is not in the index': [prose, '[7. Express](0007-koa.md)'],
    'lacks a part': [prose.replace('**Consequence.** ', ''), line],
    'is too long': [`${prose}${'word '.repeat(MAX_WORDS)}`, line],
  };

  for (const [problem, [text, lines]] of Object.entries(wrong)) {
    it(`finds one that ${problem}`, () => {
      expect(problemsOf(decision(text), lines)).to.deep.equal([`d/0007-koa.md ${problem}`]);
    });
  }
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
