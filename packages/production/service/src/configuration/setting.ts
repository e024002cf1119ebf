import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';
import * as v from 'valibot';
import { anyOf, systemReason } from '../messages/wording.js';

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** All problems; each names the variable, the rule and the fix. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.problems = problems;
  }
}

/** One environment variable: what it accepts, and its default. docs/configuration.md explains what it means. */
export interface Setting<T> {
  /** The rule, as a text after the words "must be". */
  readonly rule: string;
  /** A valid value, for messages about invalid ones. */
  readonly example: string;
  /** The text used if the variable is not set. If there is no default, the setting is `undefined`. */
  readonly default?: string;
  /** Whether the value is never printed, and may come from a file that the variable with `_FILE` after its name points to. */
  readonly secret?: true;
  /** Whether it must be set when its adapter is chosen. */
  readonly required?: true;
  /** The rule for the text, and its conversion to the value. */
  readonly schema: v.GenericSchema<string, T>;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table of settings: `undefined` for one that is not set, not required, and has no default. */
export type ValuesOf<Table extends Settings> = {
  readonly [Name in keyof Table]:
    | v.InferOutput<Table[Name]['schema']>
    | (Table[Name] extends { readonly default: string } | { readonly required: true }
        ? never
        : undefined);
};

export function wholeNumber(min: number, max: number, fallback: number) {
  return { ...optionalWholeNumber(min, max, fallback), default: `${fallback}` };
}

export function optionalWholeNumber(min: number, max: number, example: number) {
  return {
    rule: `a whole number from ${min} to ${max}`,
    example: `${example}`,
    schema: v.pipe(v.string(), v.digits(), v.toNumber(), v.minValue(min), v.maxValue(max)),
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]) {
  return { rule: anyOf(choices), example: choices[0] ?? '', schema: v.picklist(choices) };
}

/** Defines a setting for a text that matches a pattern: by default for any that is not empty. */
export function text(rule: string, example: string, pattern = /./) {
  return { rule, example, schema: v.pipe(v.string(), v.regex(pattern)) };
}

/** Defines a setting that is required as soon as any other setting of its adapter is set. */
export function required<const T extends object>(setting: T) {
  return { ...setting, required: true } as const;
}

/** Has a letter: digits and dots alone are an invalid address. */
const HOST_NAME = /^(?=.*[A-Za-z])[A-Za-z0-9._-]+$/;

/** A setting for the address on which a server listens, loopback by default. */
export const host = {
  rule: 'a host name or an IP address, without a port',
  example: '127.0.0.1',
  default: '127.0.0.1',
  schema: v.union([v.pipe(v.string(), v.ip()), v.pipe(v.string(), v.regex(HOST_NAME))]),
} as const;

const list = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
);

/** A setting for a list of origins, in the format that browsers send. Source: URL Standard, "Origin". */
export const origins = {
  rule: 'a comma-separated list of distinct origins: scheme, lower-case host (in Punycode) and any non-default port, without a wildcard, a path or a slash at the end',
  example: 'https://nursery.example',
  schema: v.pipe(
    list,
    v.everyItem((origin) => isWebOrigin(origin) || APP_ORIGIN.test(origin)),
    v.check((origins) => new Set(origins).size === origins.length),
  ),
};

/** Apps and browser extensions have schemes of their own: `capacitor://localhost`, `chrome-extension://…`. */
const APP_ORIGIN = /^(?!(?:https?|wss?|ftp|file):)[a-z][a-z\d+.-]*:\/\/[a-z\d._-]+(?::\d+)?$/;

/** Has only characters of host names: `URL` accepts `*` and an empty label. */
const WEB_ORIGIN = /^https?:\/\/(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:]+\])(?::\d+)?$/;

function isWebOrigin(text: string): boolean {
  return WEB_ORIGIN.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** A setting for the address that clients use, to which a path can be appended. */
export const webAddress = {
  rule: 'an http or https URL without a user, a wildcard, a query, a fragment or a slash at the end',
  example: 'https://plants.example.com',
  schema: v.pipe(
    v.string(),
    v.regex(/^https?:\/\/[^?#@\\\s]*[^?#@\\\s/]$/),
    v.check((text) => URL.canParse(text) && isWebOrigin(new URL(text).origin)),
  ),
};

/** A setting for a list of addresses and networks. Its value decides whether an address is one of them. */
export const networks = {
  rule: 'a comma-separated list of IP addresses or networks',
  example: '10.0.0.0/8',
  schema: v.pipe(
    list,
    v.everyItem(isNetwork),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return proxyAddress.compile(dataset.value);
      } catch {
        addIssue();
        return NEVER;
      }
    }),
  ),
};

/**
 * Returns whether a text is an IP address or a CIDR network. Stricter than `proxy-addr`, which reads `10` as 0.0.0.10
 * and `010.0.0.1` as 8.0.0.1; rejects 0.0.0.0 and `::`, which no client has.
 */
function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  return isIP(text.replace(/\/.*/, '')) !== 0 && !['0.0.0.0', '::'].includes(text);
}

/**
 * Reads a table of settings from environment variables.
 *
 * @param given The variables that are set, which is why the required ones must be set too.
 * @param rules Returns the problems of the valid values with each other: an invalid one hides none about the others.
 * @throws {ConfigurationError} with every problem. Each names the variable, the rule and the fix.
 */
export function readSettings<Table extends Settings>(
  table: Table,
  env: NodeJS.ProcessEnv,
  given: readonly string[] = [],
  rules: (values: Partial<ValuesOf<Table>>) => readonly string[] = () => [],
): ValuesOf<Table> {
  const reason = `${given.join(', ')} ${given.length > 1 ? 'are' : 'is'} set`;
  const problems = namesOf(table, 'required')
    .filter((name) => env[name] === undefined)
    .map((name) => `${name}: required because ${reason}. Set it, or unset the others`);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    const text = env[name] ?? setting.default;
    if (text === undefined) continue;
    const { success, output } = v.safeParse(setting.schema, text);
    if (success && !WRAPPED.test(text)) values[name] = output;
    else problems.push(problemOf(name, setting, text));
  }
  // Each setting has parsed its own value.
  const valid = values as ValuesOf<Table>;
  problems.push(...rules(valid));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return valid;
}

function problemOf(name: string, setting: Setting<unknown>, text: string) {
  const { rule, example } = setting;
  return `${name}: must be ${rule}, got ${shown(text, setting)}. Example: ${name}=${example}`;
}

/** White space or quotes around a value: a file for `docker run --env-file` keeps both. */
const WRAPPED = /^\s|\s$|^(["']).*\1$/s;

/** A value that may be a secret in the wrong variable: a token, or a connection string. */
const LIKE_A_SECRET = /@|:\/\/|.{21}/s;

function shown(text: string, { secret }: Setting<unknown>): string {
  if (text === '') return 'an empty string';
  const isHidden = secret || LIKE_A_SECRET.test(text);
  const value = isHidden ? 'a value that is not shown' : JSON.stringify(text);
  return WRAPPED.test(text) ? `${value}, with white space or quotes around it` : value;
}

/**
 * Returns the environment with each `NAME_FILE` replaced by `NAME`, read from that file (the convention of official
 * database images). Trims the text, because editors append a line feed or prepend a byte order mark.
 */
export function withSecrets(table: Settings, given: NodeJS.ProcessEnv) {
  const env = { ...given };
  const problems: string[] = [];
  for (const name of namesOf(table, 'secret')) {
    const file = `${name}_FILE`;
    const path = given[file];
    if (path === undefined) continue;
    try {
      if (given[name] === undefined) env[name] = readFileSync(path, 'utf8').trim();
      else problems.push(`${name}, ${file}: both are set. Unset one of them`);
    } catch (error) {
      problems.push(unreadable(file, error));
    }
  }
  return { env, problems };
}

/** Whether a variable is set, even by the file of a secret. */
export function isSet(name: string, table: Settings, given: NodeJS.ProcessEnv): boolean {
  const isInFile = table[name]?.secret === true && given[`${name}_FILE`] !== undefined;
  return isInFile || given[name] !== undefined;
}

/** Returns the problem of a variable that contains the path of a file that cannot be read. */
export function unreadable(variable: string, error: unknown): string {
  return `${variable}: cannot read the file (${systemReason(error)}). Correct the path or the permissions`;
}

/** Whether this is development mode, in which a database and a token verifier have defaults. Every other name is production. */
export function isTrial({ NODE_ENV }: NodeJS.ProcessEnv): boolean {
  return NODE_ENV === undefined || NODE_ENV === 'development' || NODE_ENV === 'test';
}

export function namesOf(table: Settings, property: 'required' | 'secret'): string[] {
  return Object.keys(table).filter((name) => table[name]?.[property]);
}
