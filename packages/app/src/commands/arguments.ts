import { parseArgs } from 'node:util';
import { nearest } from '../messages/nearest.js';

/** The command line is invalid. The message names the argument and the rule. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Where the commands and their arguments are listed. */
const SEE = 'See plant-store --help';

/** Returns the error of an unknown word, with the known one that was probably meant. */
export function unknownWord(problem: string, word: string, known: readonly string[]): UsageError {
  const meant = nearest(word, known);
  const fix = meant === undefined ? SEE : `Did you mean ${meant}?`;
  return new UsageError(`${problem} '${word}'. ${fix}`);
}

/** @throws {UsageError} when a command that takes no arguments has some. */
export function expectNoArguments(command: string, [found]: readonly string[]): void {
  if (found === undefined) return;
  throw new UsageError(`'${command}' takes no argument, found '${found}'. ${SEE}`);
}

/**
 * Parses the arguments of a command: files, and options with a value each.
 *
 * @throws {UsageError} for another option, and for one without a value.
 */
export function readArguments<const Name extends string>(
  command: string,
  names: readonly Name[],
  args: readonly string[],
): { readonly files: readonly string[]; readonly values: Partial<Record<Name, string>> } {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  // A strict parser takes a negative id for another option.
  const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: false });
  const known = names.map((name) => `--${name}`);
  const values: Partial<Record<string, string>> = {};
  for (const [name, value] of Object.entries(parsed.values)) {
    const option = `${name.length > 1 ? '--' : '-'}${name}`;
    if (!known.includes(option)) throw unknownWord(`${command}: unknown option`, option, known);
    if (typeof value !== 'string' || value.startsWith('--')) {
      throw new UsageError(`${command}: ${option}: expected a value. ${SEE}`);
    }
    values[name] = value;
  }
  return { files: parsed.positionals, values };
}

/** Returns the number that the text of an option writes; `undefined` without a text. @throws {UsageError} */
export function countOf(option: string, text?: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${option}: expected a number of 1 or more, found '${text}'`);
}
