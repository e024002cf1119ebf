import * as v from 'valibot';
import type { Setting, Settings, ValuesOf } from './setting.js';

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
