import { isUtf8 } from 'node:buffer';

/** The text is not valid JSON. The message is the rule that it breaks. */
export class InvalidJsonError extends Error {
  override readonly name = 'InvalidJsonError';
  readonly code = 'INVALID_JSON';
}

/** A JSON number with all its digits; `JSON.parse` would round it to a double. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON object without a prototype, so that no member name has a meaning in JavaScript. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A JSON value in which nothing was rounded, merged or replaced. */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** What a decoder puts in place of invalid UTF-8. It may be in a valid text, too. */
const REPLACEMENT = '\uFFFD';

/** The deepest level of nesting. The outermost value is level 1. */
const MAX_DEPTH = 32;

/**
 * Parses one JSON text (RFC 8259), more strictly than `JSON.parse`. Numbers keep their digits. Invalid UTF-8,
 * repeated names in an object, lone surrogates and deep nesting are refused. The time is linear in the length of the
 * text, whatever its content.
 *
 * @throws {InvalidJsonError} with the rule that the text breaks.
 */
export function parseJson(bytes: Buffer): JsonValue {
  const text = bytes.toString();
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) fail('it is not UTF-8');
  return new Parser(text).parse();
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const UNICODE_ESCAPE = /[0-9a-fA-F]{4}/y;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): JsonValue {
    this.#skipSpace();
    const value = this.#value();
    if (this.#at < this.#text.length) fail('there is text after the end of the value');
    return value;
  }

  /** Reads a value and the white space after it. */
  #value(): JsonValue {
    const value = this.#bareValue();
    this.#skipSpace();
    return value;
  }

  #bareValue(): JsonValue {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#nested(this.#object);
      case '[':
        return this.#nested(this.#array);
      case '"':
        return this.#string();
      case 't':
        return this.#literal('true', true);
      case 'f':
        return this.#literal('false', false);
      case 'n':
        return this.#literal('null', null);
      default:
        return this.#number();
    }
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) fail(`it is nested deeper than ${MAX_DEPTH} levels`);
    this.#at += 1;
    this.#skipSpace();
    const value = read.call(this);
    this.#depth -= 1;
    return value;
  }

  #object(): JsonObject {
    const object: Record<string, JsonValue> = Object.create(null);
    if (this.#skip('}')) return object;
    do {
      this.#skipSpace();
      const name = this.#name();
      if (Object.hasOwn(object, name)) fail('a name is repeated in one object');
      object[name] = this.#value();
    } while (this.#skip(','));
    if (!this.#skip('}')) fail("a ',' or '}' is missing");
    return object;
  }

  #name(): string {
    if (this.#text[this.#at] !== '"') fail('a name in double quotes is missing');
    const name = this.#string();
    this.#skipSpace();
    if (!this.#skip(':')) fail("a ':' is missing");
    this.#skipSpace();
    return name;
  }

  #array(): JsonValue[] {
    const values: JsonValue[] = [];
    if (this.#skip(']')) return values;
    do {
      this.#skipSpace();
      values.push(this.#value());
    } while (this.#skip(','));
    if (!this.#skip(']')) fail("a ',' or ']' is missing");
    return values;
  }

  #string(): string {
    const start = this.#at + 1;
    const end = this.#endOfRun(start);
    this.#at = end + 1;
    if (this.#text.charCodeAt(end) === QUOTE) return this.#text.slice(start, end);
    const string = this.#escapedString(this.#text.slice(start, end));
    if (!string.isWellFormed()) fail('a string has a lone surrogate');
    return string;
  }

  /** Reads the rest of a string from its first backslash; `read` is the part before it. */
  #escapedString(read: string): string {
    let string = read + this.#escape();
    for (;;) {
      const end = this.#endOfRun(this.#at);
      string += this.#text.slice(this.#at, end);
      this.#at = end + 1;
      if (this.#text.charCodeAt(end) === QUOTE) return string;
      string += this.#escape();
    }
  }

  /** Returns the position of the next quotation mark or backslash. */
  #endOfRun(from: number): number {
    for (let at = from; at < this.#text.length; at += 1) {
      const unit = this.#text.charCodeAt(at);
      if (unit === QUOTE || unit === BACKSLASH) return at;
      if (unit < SPACE) fail('a string has a control character that is not escaped');
    }
    fail('a string is not closed');
  }

  #escape(): string {
    const kind = this.#text[this.#at] ?? '';
    this.#at += 1;
    if (kind !== 'u') return ESCAPES[kind] ?? fail('a string has an unknown escape');
    const digits = this.#match(UNICODE_ESCAPE) ?? fail('a string has an incomplete \\u escape');
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #literal<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) fail('a value is missing or invalid');
    this.#at += word.length;
    return value;
  }

  #number(): JsonNumber {
    return new JsonNumber(this.#match(NUMBER) ?? fail('a value is missing or invalid'));
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const matched = pattern.exec(this.#text)?.[0];
    if (matched !== undefined) this.#at += matched.length;
    return matched;
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }
}

function fail(rule: string): never {
  throw new InvalidJsonError(rule);
}
