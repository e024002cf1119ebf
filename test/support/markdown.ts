import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What a block shows instead of the lines that it leaves out. */
export const LEFT_OUT = '// …';

const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.cache', 'generated']);

export interface CodeBlock {
  /** The first word after the fence; empty when there is none. */
  readonly language: string;
  /** The second word: the file that the block shows or changes. */
  readonly file: string | undefined;
  readonly text: string;
  /** The line of its fence, counted from 1. */
  readonly line: number;
}

export interface Markdown {
  /** Its path from the root of the project. */
  readonly path: string;
  /** The text outside of code blocks; the lines keep their numbers. */
  readonly prose: string;
  readonly blocks: readonly CodeBlock[];
}

/** Returns every document below `root`, but for the notes that a release makes. */
export function readDocuments(root: string): Markdown[] {
  return filesBelow(root)
    .filter((file) => file.endsWith('.md') && !file.startsWith(join(root, 'release')))
    .map((file) => readDocument(root, relative(root, file)));
}

/** Returns the path of every file of the project below a folder, without dependencies and generated files. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

/** Returns the document at a path from `root`. */
export function readDocument(root: string, path: string): Markdown {
  return { path, ...parse(readFileSync(join(root, path), 'utf8')) };
}

function parse(text: string): Omit<Markdown, 'path'> {
  const blocks: CodeBlock[] = [];
  const prose = text.replace(/^```(.*)\n([\s\S]*?)^```$/gm, (all, info: string, code, offset) => {
    const [language = '', file] = info.trim().split(/\s+/);
    const line = text.slice(0, offset).split('\n').length;
    blocks.push({ language, file, text: code, line });
    return all.replace(/[^\n]/g, '');
  });
  return { prose, blocks };
}

/** Returns the ids of the headings, as on GitHub. Does not support repeated headings. */
export function anchorsOf({ prose }: Markdown): string[] {
  return [...prose.matchAll(/^#+ +(.+?) *$/gm)].map(([, title = '']) =>
    title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
      .replace(/ /g, '-'),
  );
}
