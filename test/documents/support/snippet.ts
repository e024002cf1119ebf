import { readDocument } from '../../support/markdown.js';
import { root } from '../../support/root.js';

/** Returns the text of the only block of a page with this beginning, for a test that runs it. */
export function snippet(page: string, beginning: string): string {
  const { blocks } = readDocument(root, page);
  const [block, another] = blocks.filter(({ text }) => text.startsWith(beginning));
  if (block === undefined) throw new Error(`${page}: no block begins with "${beginning}"`);
  if (another !== undefined) throw new Error(`${page}: two blocks begin with "${beginning}"`);
  return block.text;
}

/** Replaces the example values of a text with the test's values. Throws when an example is not in the text. */
export function withReal(text: string, real: Readonly<Record<string, string>>): string {
  return Object.entries(real).reduce((before, [example, value]) => {
    if (!before.includes(example)) throw new Error(`"${example}" is not in\n${before}`);
    return before.replaceAll(example, value);
  }, text);
}

/** A command of a `console` block, after `$ `. It goes on after a line that ends with a backslash or a pipe. */
const COMMAND = /^\$ ((?:.*[\\|]\n)*.*)\n/gm;

/** Splits a `console` block into the commands and their output. */
export function session(text: string): { commands: string; output: string } {
  const commands = [...text.matchAll(COMMAND)].map(([, command]) => command);
  return { commands: commands.join('\n'), output: text.replaceAll(COMMAND, '').trimEnd() };
}
