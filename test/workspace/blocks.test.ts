import { join } from 'node:path';
import { expect } from 'chai';
import { claimsIn, unaccounted } from '../documents/support/accounts.js';
import { type CodeBlock, type Markdown, readDocuments } from '../markdown.js';
import { root } from '../root.js';

const documents = readDocuments(root);
const claims = claimsIn(join(root, 'test'));

describe('Every block of the documents', () => {
  it('is run by a test, shows a file, is checked as data, or is marked', () => {
    expect(documents.flatMap((page) => unaccounted(page, claims))).to.deep.equal([]);
  });

  it('that a test runs exists in a document', () => {
    const paths = documents.map(({ path }) => path);
    expect(claims).to.have.lengthOf.above(30);
    expect(claims.filter(({ page }) => !paths.includes(page))).to.deep.equal([]);
  });
});

/** A block with each kind of problem. */
describe('The check of the blocks', () => {
  const page = (block: Partial<CodeBlock>, prose = ''): Markdown => ({
    path: 'docs/page.md',
    prose,
    blocks: [{ language: 'sh', file: undefined, text: 'ls\n', line: 1, ...block }],
  });
  const marked = page({ notRun: 'it needs a cluster' }, '<!-- not run by a test: … -->');
  const claim = { page: 'docs/page.md', beginning: 'ls' };
  const elsewhere = { ...claim, page: 'README.md' };

  for (const [title, judged, claimed, found] of [
    ['no test runs', page({}), [elsewhere], [':1 is run by no test: run it, or mark it']],
    ['a test runs', page({}), [claim], []],
    ['shows a file', page({ file: 'README.md' }), [], []],
    ['is marked', marked, [], []],
    ['a test runs, with a mark', marked, [claim], [':1 is run by a test, and marked as not run']],
    ['lost its mark', page({}, '<!-- not run -->\n'), [claim], [' has a mark that is not']],
    ['is indented', page({}, '\n  ```sh\n'), [claim], [' has a fence that is not read']],
    ['is an unknown diagram', page({ language: 'mermaid' }), [], [':1 is no known diagram']],
  ] as const) {
    it(`judges one that ${title}`, () => {
      const problems = unaccounted(judged, claimed);
      expect(problems).to.have.length(found.length);
      for (const [at, start] of found.entries()) {
        expect(problems[at]).to.include(`docs/page.md${start}`);
      }
    });
  }

  it('finds a test of a block that does not exist, or exists twice', () => {
    const [block] = page({}).blocks;
    const lost = { ...page({}), blocks: [] };
    expect(() => unaccounted(lost, [claim])).to.throw('no block begins with "ls"');
    const twice = { ...page({}), blocks: [block, block] as CodeBlock[] };
    expect(() => unaccounted(twice, [claim])).to.throw('two blocks begin with "ls"');
  });
});
