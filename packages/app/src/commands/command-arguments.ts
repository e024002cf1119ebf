import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.js';

/** The arguments of a command: one file at most, and options with a value each. */
export interface CommandArguments {
  /** `undefined` for standard input or output. */
  readonly file: string | undefined;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** Parses the arguments of a command. @throws {UsageError} */
export function readArguments(
  command: string,
  options: readonly string[],
  args: readonly string[],
): CommandArguments {
  const { values, positionals } = parsed(command, options, args);
  const [file, another] = positionals;
  if (another !== undefined) {
    throw new UsageError(`${command}: expected one FILE, found '${another}' too`);
  }
  return { file: file === '-' ? undefined : file, values };
}

function parsed(command: string, names: readonly string[], args: readonly string[]) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // The first sentence of a message of Node.js names the option; the rest is advice that does not apply here.
    const [problem] = `${error instanceof Error ? error.message : error}`.split('. ');
    throw new UsageError(`${command}: ${problem}`);
  }
}

/** Returns the number that the text of an option writes. @throws {UsageError} */
export function countOf(option: string, what: string, text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${option}: expected ${what} of 1 or more, found '${text}'`);
}

/** Returns a word as a shell reads it back. */
export function quoted(word: string): string {
  return /^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
