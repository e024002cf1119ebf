import { parseArgs } from 'node:util';
import { nearest } from '../messages/wording.js';

/** The command line is invalid. The message names the rule, and contains no argument: it may be a secret in the wrong place. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The arguments of a command: a file, and the values of its options, by name. */
export interface Arguments {
  readonly file: string | undefined;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** The options of each command, all of which take a value. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  import: ['from-line'],
  export: ['after', 'limit'],
};

const WITH_FILE = ['import', 'help'];

/** Options without a value. Each runs the command of its name. */
const FLAGS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

const SEE = 'See plant-store --help';

/** Returns the command that a command line names, and what follows it. @throws {UsageError} */
export function parseCommandLine<Command>(
  args: readonly string[],
  commands: Readonly<Record<string, Command>>,
): Arguments & { readonly command: Command } {
  const commandOf = (name: string) => {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    return command ?? unknownWord('unknown command', name, Object.keys(commands));
  };
  const names = Object.values(OPTIONS).flat();
  const valued = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  // A strict parser would mistake a negative id for an option.
  const how = { options: { ...valued, ...FLAGS }, allowPositionals: true, strict: false };
  const { positionals, values } = parseArgs({ args: [...args], ...how });
  const [given, file] = positionals;
  const name = given ?? 'serve';
  const prefix = given === undefined ? '' : `${given}: `;
  const command = commandOf(name);
  const known = [...(OPTIONS[name] ?? []), ...Object.keys(FLAGS)].map((it) => `--${it}`);
  for (const [key, value] of Object.entries(values)) {
    const option = `${key.length > 1 ? '--' : '-'}${key}`;
    if (!known.includes(option)) unknownWord(`${prefix}unknown option`, option, known);
    if (Object.hasOwn(FLAGS, key)) return { command: commandOf(key), file: undefined, values: {} };
    if (typeof value !== 'string' || value.startsWith('--')) {
      throw new UsageError(`${name}: ${option} requires a value. ${SEE}`);
    }
  }
  const most = WITH_FILE.includes(name) ? 1 : 0;
  if (positionals.length > most + 1) {
    const fix = name === 'export' ? 'Redirect standard output instead' : SEE;
    throw new UsageError(`${name}: unexpected argument ${most + 1}. ${fix}`);
  }
  return { command, file, values: values as Arguments['values'] };
}

/** @throws {UsageError} that names the known word that was probably meant. */
function unknownWord(problem: string, word: string, known: readonly string[]): never {
  const meant = nearest(word, known);
  const fix = meant === undefined ? SEE : `Did you mean ${meant}?`;
  throw new UsageError(`${problem}. ${fix}`);
}

/** Returns the number in the text of an option; `undefined` if the option is absent. @throws {UsageError} */
export function countOf(option: string, text?: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${option} must be a whole number of 1 or more`);
}
