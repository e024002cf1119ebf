import { type CodeBlock, type Markdown, readDocument } from '../../markdown.js';
import { root } from '../../root.js';

/**
 * Returns the text of the only block of a page with this beginning, for a test that runs it.
 */
export function snippet(page: string, beginning: string): string {
  return onlyBlock(readDocument(root, page), beginning).text;
}

/** Returns the block with this beginning. Throws unless there is exactly one. */
export function onlyBlock({ path, blocks }: Markdown, beginning: string): CodeBlock {
  const [block, another] = blocks.filter(({ text }) => text.startsWith(beginning));
  if (block === undefined) throw new Error(`${path}: no block begins with "${beginning}"`);
  if (another !== undefined) throw new Error(`${path}: two blocks begin with "${beginning}"`);
  return block;
}

/** Replaces the example values of a text by those of a test. Throws when an example is not in the text. */
export function withReal(text: string, real: Readonly<Record<string, string>>): string {
  return Object.entries(real).reduce((before, [example, value]) => {
    if (!before.includes(example)) throw new Error(`"${example}" is not in\n${before}`);
    return before.replaceAll(example, value);
  }, text);
}

/** Splits a `console` block into the commands, after `$ `, and their output. */
export function session(text: string): { commands: string; output: string } {
  const isCommand: boolean[] = [];
  const lines = text.trimEnd().split('\n');
  for (const [at, line] of lines.entries()) {
    const goesOn = isCommand[at - 1] === true && /[\\|]$/.test(lines[at - 1] ?? '');
    isCommand.push(goesOn || line.startsWith('$ '));
  }
  const part = (command: boolean) => lines.filter((_, at) => isCommand[at] === command).join('\n');
  return { commands: part(true).replaceAll(/^\$ /gm, ''), output: part(false) };
}
