import { readFileSync } from 'node:fs';
import { type CodeBlock, filesBelow, type Markdown } from '../../markdown.js';
import { onlyBlock } from './snippet.js';

/** A call of `snippet` in the source of a test. */
export interface Claim {
  readonly page: string;
  readonly beginning: string;
}

const CALL = /\bsnippet\(\s*'([^']+)',\s*(['"])(.+?)\2,?\s*\)/g;
/** A mark in prose, not in code. */
const MARK = /(?<!`)<!-- *not run/g;

/** Pages whose commands are run by `tutorials.test.ts`. */
const TUTORIALS = /^docs\/tutorials\//;

/** Pages whose example, and what it prints, `packages.test.ts` compares. */
const PACKAGES = /^(?:packages\/[^/]+|tools\/faulty-network)\/README\.md$/;
const EXAMPLE = ['ts', 'text'];

const DIAGRAM = /^(?:flowchart (?:LR|TD)|sequenceDiagram)\n/;

/** Returns every call of `snippet` in the tests of a folder. */
export function claimsIn(folder: string): Claim[] {
  return filesBelow(folder)
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(CALL)])
    .map(([, page = '', , beginning = '']) => ({ page, beginning }));
}

/** Returns the problems of the blocks of a page: each must be run, show a file, be checked as data, or be marked. */
export function unaccounted(page: Markdown, claims: readonly Claim[]): string[] {
  const own = claims.filter((it) => it.page === page.path);
  const run = new Set(own.map(({ beginning }) => onlyBlock(page, beginning)));
  const problems = page.blocks.flatMap((block) =>
    problemOf(page, block, run.has(block)).map((it) => `${page.path}:${block.line} ${it}`),
  );
  return [...problems, ...unreadOf(page)];
}

function problemOf({ path }: Markdown, block: CodeBlock, isRun: boolean): string[] {
  const isTested =
    isRun ||
    block.file !== undefined ||
    (block.language === 'sh' && TUTORIALS.test(path)) ||
    (EXAMPLE.includes(block.language) && PACKAGES.test(path));
  if (isTested && block.notRun !== undefined) return ['is run by a test, and marked as not run'];
  if (isTested || block.notRun !== undefined || block.language === 'json') return [];
  if (block.language === 'mermaid') return DIAGRAM.test(block.text) ? [] : ['is no known diagram'];
  return ['is run by no test: run it, or mark it (see CONTRIBUTING.md)'];
}

/** Returns marks without a block, and indented blocks. */
function unreadOf({ path, prose, blocks }: Markdown): string[] {
  const marked = blocks.filter(({ notRun }) => notRun !== undefined).length;
  const marks = prose.match(MARK)?.length ?? 0;
  return [
    ...(marks === marked ? [] : [`${path} has a mark that is not on the line before a block`]),
    ...(/^\s*(?:```|~~~)/m.test(prose) ? [`${path} has a fence that is not read`] : []),
  ];
}
