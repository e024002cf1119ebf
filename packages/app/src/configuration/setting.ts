import * as v from 'valibot';

/** One environment variable: what it means, what it accepts, and its default. */
export interface Setting<T> {
  readonly meaning: string;
  /** The rule, as a text after the word "expected". */
  readonly expected: string;
  /** A valid value, for messages about invalid ones. */
  readonly example: string;
  /** The text that is used when the variable is not set. Without a default, the setting is `undefined`. */
  readonly default?: string;
  /** Whether the value is a secret, which is never printed. */
  readonly secret?: true;
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

function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
