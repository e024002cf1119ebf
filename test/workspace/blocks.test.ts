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

/** Pages with each kind of problem. */
describe('The check of the blocks', () => {
  const page = (block: Partial<CodeBlock>, prose = ''): Markdown => ({
    path: 'docs/page.md',
    prose,
    blocks: [{ language: 'sh', file: undefined, text: 'ls\n', line: 1, ...block }],
  });
  const diagram = (text: string) => unaccounted(page({ language: 'mermaid', text }), []);
  const claim = { page: 'docs/page.md', beginning: 'ls' };

  it('finds a block that no test runs', () => {
    expect(unaccounted(page({}), [])).to.deep.equal([
      'docs/page.md:1 is run by no test: run it, or mark it (see CONTRIBUTING.md)',
    ]);
    expect(unaccounted(page({}), [claim])).to.deep.equal([]);
    expect(unaccounted(page({}), [{ ...claim, page: 'README.md' }])).to.have.length(1);
    expect(unaccounted(page({ file: 'test/workspace/pages.test.ts' }), [])).to.deep.equal([]);
    expect(unaccounted(page({ language: '' }), [])).to.have.length(1);
  });

  it('finds a mark at a block that a test runs', () => {
    const marked = page({ notRun: 'it needs a cluster' }, '<!-- not run by a test: … -->');
    expect(unaccounted(marked, [])).to.deep.equal([]);
    expect(unaccounted(marked, [claim])).to.deep.equal([
      'docs/page.md:1 is run by a test, and marked as not run',
    ]);
  });

  it('finds a mark without a block, and an indented block', () => {
    const lost = unaccounted(page({}, '<!-- not run by a test -->\n\n  ```sh\n'), [claim]);
    expect(lost).to.deep.equal([
      'docs/page.md has a mark that is not on the line before a block',
      'docs/page.md has a fence that is not read',
    ]);
  });

  it('finds a test of a block that does not exist, or exists twice', () => {
    expect(() => unaccounted(page({ text: 'cd\n' }), [claim])).to.throw(
      'no block begins with "ls"',
    );
    const twice = { ...page({}), blocks: [...page({}).blocks, ...page({}).blocks] };
    expect(() => unaccounted(twice, [claim])).to.throw('two blocks begin with "ls"');
  });

  it('finds a diagram of an unknown kind, and one with open brackets', () => {
    expect(diagram('flowchart LR\n  a["a (b"] --> b\n')).to.deep.equal([]);
    expect(diagram('flow\n')).to.deep.equal(['docs/page.md:1 is no known diagram']);
    expect(diagram('flowchart LR\n  subgraph a\n')).to.have.length(1);
    expect(diagram('flowchart LR\n  a[b --> c\n')).to.have.length(1);
  });
});
