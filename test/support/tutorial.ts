import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { filesBelow, type Markdown, readDocument } from './markdown.js';
import { root } from './root.js';

/** The pages of all tutorials, by their folders. */
export const tutorials: ReadonlyMap<string, Markdown> = new Map(
  readdirSync(join(root, 'docs/tutorials')).map((name) => [
    name,
    readDocument(root, `docs/tutorials/${name}/README.md`),
  ]),
);

/** Returns the new texts of the files that a tutorial copies and changes. */
export function followed({ path, blocks }: Markdown, read: (file: string) => string) {
  const files = copied(path);
  for (const { file, text } of blocks) {
    if (file !== undefined) files.set(file, changed(files.get(file) ?? read(file), text, file));
  }
  return files;
}

/** Returns the files of `examples/tutorials` that the page lets its reader copy. */
function copied(page: string): Map<string, string> {
  const folder = join(root, dirname(page).replace('docs', 'examples'));
  const files = existsSync(folder) ? filesBelow(folder) : [];
  return new Map(files.map((file) => [relative(folder, file), readFileSync(file, 'utf8')]));
}

/** Applies hunks, separated by lines that begin with `@@`. Each must match exactly one place, or be applied already. */
export function changed(text: string, diff: string, file: string): string {
  const hunks = diff.split(/^@@.*\n/m).filter((hunk) => hunk !== '');
  return hunks.reduce((before, hunk) => {
    if (isApplied(before, hunk)) return before;
    const [old, made] = [side(hunk, '-'), side(hunk, '+')];
    const [start = '', end, another] = before.split(old);
    if (end === undefined) throw new Error(`${file} does not hold\n${old}`);
    if (another !== undefined) throw new Error(`${file} holds more than once\n${old}`);
    return start + made + end;
  }, text);
}

/** Whether the text contains all added lines, even if others were added between them, and nothing that is only removed. */
function isApplied(text: string, hunk: string): boolean {
  const added = hunk.match(/^(?:\+.*\n)+/gm);
  if (added === null) return text.includes(side(hunk, '+'));
  return added.every((lines) => `\n${text}`.includes(`\n${side(lines, '+')}`));
}

function side(hunk: string, sign: '-' | '+'): string {
  const lines = hunk.split('\n').filter((line) => line.startsWith(' ') || line.startsWith(sign));
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}
