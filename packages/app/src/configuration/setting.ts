import { readFileSync } from 'node:fs';
import proxyAddress from 'proxy-addr';
import * as v from 'valibot';

/** The environment variables are invalid. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** All problems; each names the variable, what was expected, and how to fix it. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** One environment variable: what it means, what it accepts, and its default. */
export interface Setting<T> {
  readonly meaning: string;
  /** The rule, as a text after the word "expected". */
  readonly expected: string;
  /** A valid value, for messages about invalid ones. */
  readonly example: string;
  /** The text that is used when the variable is not set. Without a default, the setting is `undefined`. */
  readonly default?: string;
  /**
   * Whether the value is a secret, which is never printed. It can be in a file, which the variable with `_FILE` after
   * the name then names.
   */
  readonly secret?: true;
  /** Names that other programs use for it: one that is set, when this variable is not, is probably meant for it. */
  readonly aliases?: readonly string[];
  /** The rule for the text, and its conversion to the value. */
  readonly schema: v.GenericSchema<string, T>;
}

/** A table of settings, by the names of their variables. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table of settings: `undefined` for one that is not set and has no default. */
export type ValuesOf<Table extends Settings> = {
  readonly [Name in keyof Table]:
    | v.InferOutput<Table[Name]['schema']>
    | (Table[Name] extends { readonly default: string } ? never : undefined);
};

/** Defines a setting for a whole number with a default. */
export function wholeNumber(meaning: string, min: number, max: number, fallback: number) {
  return { ...optionalWholeNumber(meaning, min, max, fallback), default: `${fallback}` };
}

/** Defines a setting for a whole number without a default. */
export function optionalWholeNumber(meaning: string, min: number, max: number, example: number) {
  return {
    meaning,
    expected: `a whole number from ${min} to ${max}`,
    example: `${example}`,
    schema: v.pipe(v.string(), v.digits(), v.toNumber(), v.minValue(min), v.maxValue(max)),
  };
}

/** Defines a setting for one of several words. */
export function oneOf<const T extends string>(meaning: string, choices: readonly T[]) {
  return {
    meaning,
    expected: choices.join(', ').replace(/, ([^,]+)$/, ' or $1'),
    example: choices[0] ?? '',
    schema: v.picklist(choices),
  };
}

/** Defines a setting for a text that matches a pattern. */
export function matching<const Rest extends Omit<Setting<string>, 'meaning' | 'schema'>>(
  meaning: string,
  pattern: RegExp,
  rest: Rest,
) {
  return { meaning, ...rest, schema: v.pipe(v.string(), v.regex(pattern)) };
}

/** Defines a setting for any text that is not empty. */
export function text<const Rest extends Omit<Setting<string>, 'meaning' | 'schema'>>(
  meaning: string,
  rest: Rest,
) {
  return { meaning, ...rest, schema: v.pipe(v.string(), v.nonEmpty()) };
}

/** Has a letter: digits and dots alone are an invalid address. */
const HOST_NAME = /^(?=.*[A-Za-z])[A-Za-z0-9._-]+$/;

/** Defines a setting for the address on which a server listens, loopback by default. */
export function host(meaning: string) {
  return {
    meaning,
    expected: 'a host name or an IP address, without a port',
    example: '127.0.0.1',
    default: '127.0.0.1',
    schema: v.union([v.pipe(v.string(), v.ip()), v.pipe(v.string(), v.regex(HOST_NAME))]),
  };
}

/** Defines a setting for a list of origins, in the form that browsers send. Source: URL Standard, "Origin". */
export function origins(meaning: string) {
  return {
    meaning,
    expected:
      'origins as browsers send them, each once, separated by commas: scheme, host, and the port unless it is the usual one; no path',
    example: 'https://nursery.example',
    schema: v.pipe(
      v.string(),
      v.transform((text) => text.split(',').map((part) => part.trim())),
      v.everyItem(isWebOrigin),
      v.check((list) => new Set(list).size === list.length),
    ),
  };
}

/** Defines a setting for a list of addresses and networks. Its value decides whether an address is one of them. */
export function networks(meaning: string) {
  return {
    meaning,
    expected: 'IP addresses or networks, separated by commas',
    example: '10.0.0.0/8',
    schema: v.pipe(
      v.string(),
      v.transform((text) => text.split(',').map((part) => part.trim())),
      v.everyItem(isNetwork),
      v.transform((list) => proxyAddress.compile(list)),
    ),
  };
}

function isNetwork(text: string): boolean {
  try {
    proxyAddress.compile(text);
    return true;
  } catch {
    return false;
  }
}

function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** The values and the problems of some settings. */
export interface ReadSettings<Table extends Settings> {
  /** The valid values. */
  readonly values: Partial<ValuesOf<Table>>;
  /** The problems of single values. Each names the variable, the rule and the fix. */
  readonly problems: readonly string[];
}

/** Reads a table of settings from environment variables. */
export function readSettings<Table extends Settings>(
  table: Table,
  env: NodeJS.ProcessEnv,
): ReadSettings<Table> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, setting] of Object.entries(table)) {
    const text = env[name] ?? setting.default;
    if (text === undefined) continue;
    const { success, output } = v.safeParse(setting.schema, text);
    if (success && text.trim() === text) values[name] = output;
    else problems.push(problemOf(name, setting, text));
  }
  return arePartOf(table, values) ? { values, problems } : { values: {}, problems };
}

/** Whether every setting with a default is valid, and every required one is set. */
export function areComplete<Table extends Settings, Required extends keyof Table = never>(
  table: Table,
  values: Partial<ValuesOf<Table>>,
  required: readonly Required[] = [],
): values is ValuesWith<Table, Required> {
  const needed = Object.keys(table).filter((name) => table[name]?.default !== undefined);
  return [...needed, ...required].every((name) => values[name] !== undefined);
}

/** The values of a table of settings, some of which are required. */
export type ValuesWith<Table extends Settings, Required extends keyof Table> = ValuesOf<Table> & {
  readonly [Name in Required]: NonNullable<ValuesOf<Table>[Name]>;
};

/** Asserts the types of values, which the settings themselves have parsed. */
function arePartOf<Table extends Settings>(
  table: Table,
  values: Readonly<Record<string, unknown>>,
): values is Partial<ValuesOf<Table>> {
  return Object.keys(values).every((name) => Object.hasOwn(table, name));
}

function problemOf(name: string, { expected, example, secret }: Setting<unknown>, text: string) {
  const found = foundIn(text, secret);
  return `${name}: expected ${expected}, found ${found}. Unset it, or set for example ${name}=${example}`;
}

function foundIn(text: string, secret: boolean | undefined): string {
  if (text === '') return 'an empty string';
  if (secret !== true) return JSON.stringify(text);
  return text.trim() === text ? 'something else' : 'white space around it';
}

/** Environment variables whose secrets were read from the files that name them. */
interface GivenVariables {
  readonly env: NodeJS.ProcessEnv;
  readonly problems: readonly string[];
}

/** Reads the secrets that are in files, as in the images of databases: `NAME_FILE` instead of `NAME`. */
export function withSecrets(table: Settings, env: NodeJS.ProcessEnv): GivenVariables {
  const given = { ...env };
  const problems: string[] = [];
  for (const name of secretsOf(table)) {
    const file = `${name}_FILE`;
    const path = env[file];
    if (path === undefined) continue;
    if (env[name] !== undefined) {
      problems.push(`${name}, ${file}: expected only one of them. Unset the other`);
      continue;
    }
    try {
      given[name] = readFileSync(path, 'utf8').trimEnd();
    } catch (error) {
      problems.push(`${file}: expected a file that can be read (${messageOf(error)}). Correct it`);
    }
  }
  return { env: given, problems };
}

/** Returns the names of the settings that can be in a file. */
export function secretsOf(table: Settings): string[] {
  return Object.keys(table).filter((name) => table[name]?.secret);
}

/** Returns the message of an error; of anything else, its text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
