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

  /**
   * Returns the number exactly; `undefined` when it is not whole, or far outside int64. `1.0` and `1e3` are whole
   * (JSON Schema 2020-12, "integer"). Uses only the digits, so that `1e1000000000` costs as little as `1`.
   */
  toWholeNumber(): bigint | undefined {
    const { text } = this;
    if (!/[.eE]/.test(text)) return text.length <= MAX_DIGITS + 1 ? BigInt(text) : undefined;
    const [, sign, whole = '', fraction = '', exponent = '0'] = PARTS.exec(text) ?? [];
    const digits = (whole + fraction).replace(/^0+/, '');
    const significant = withoutTrailingZeros(digits);
    if (significant === '') return 0n;
    const trailingZeros = digits.length - significant.length;
    const zeros = Number(exponent) - fraction.length + trailingZeros;
    if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return undefined;
    return BigInt(`${sign}${significant}${'0'.repeat(zeros)}`);
  }
}

const PARTS = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** 10^19 is outside int64, so no id has more digits than this before its decimal point. */
const MAX_DIGITS = 19;

/** The regular expression `/0+$/` would take quadratic time for a long row of zeros before another digit. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** A JSON object without a prototype, so that no member name has a meaning in JavaScript. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A JSON value in which nothing was rounded, merged or replaced. */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** The deepest level of nesting. The outermost value is level 1. */
const MAX_DEPTH = 32;

/**
 * Parses one JSON text (RFC 8259), in a time that is linear in its length. Numbers keep their digits. Invalid UTF-8,
 * repeated names in an object, lone surrogates and deep nesting are refused.
 *
 * @param bytes The UTF-8 text as one character for each byte, as `buffer.toString('latin1')` returns it.
 * @throws {InvalidJsonError} with the rule that the text breaks.
 */
export function parseJson(bytes: string): JsonValue {
  return new Parser(isAscii(bytes) ? bytes : decoded(Buffer.from(bytes, 'latin1'))).parse();
}

/** Most texts are ASCII, which is the same in UTF-8. */
const isAscii = (bytes: string) => !/[^\0-\x7f]/.test(bytes);

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) fail('it is not UTF-8');
  const text = bytes.toString();
  if (text.startsWith('\ufeff')) fail('it begins with a byte order mark');
  return text;
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
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#failHere('unexpected text after the end of the value');
    return value;
  }

  /** Reads a value and the white space before it. */
  #value(): JsonValue {
    this.#skipSpace();
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
    if (this.#depth > MAX_DEPTH) fail(`nested more than ${MAX_DEPTH} levels deep`);
    this.#at += 1;
    const value = read.call(this);
    this.#depth -= 1;
    return value;
  }

  #object(): JsonObject {
    const object: Record<string, JsonValue> = Object.create(null);
    if (this.#skip('}')) return object;
    do {
      const name = this.#name();
      if (Object.hasOwn(object, name)) fail('duplicate name in an object');
      object[name] = this.#value();
    } while (this.#skip(','));
    if (!this.#skip('}')) this.#failHere("expected ',' or '}'");
    return object;
  }

  #name(): string {
    this.#skipSpace();
    if (this.#text[this.#at] !== '"') this.#failHere('expected a name in double quotes');
    const name = this.#string();
    if (!this.#skip(':')) this.#failHere("expected ':'");
    return name;
  }

  #array(): JsonValue[] {
    const values: JsonValue[] = [];
    if (this.#skip(']')) return values;
    do values.push(this.#value());
    while (this.#skip(','));
    if (!this.#skip(']')) this.#failHere("expected ',' or ']'");
    return values;
  }

  #string(): string {
    let string = '';
    this.#at += 1;
    for (;;) {
      const end = this.#endOfRun(this.#at);
      string += this.#text.slice(this.#at, end);
      this.#at = end + 1;
      if (this.#text.charCodeAt(end) === QUOTE) break;
      string += this.#escape();
    }
    if (!string.isWellFormed()) fail('a string contains a lone surrogate');
    return string;
  }

  /** Returns the position of the next quotation mark or backslash. */
  #endOfRun(from: number): number {
    for (let at = from; at < this.#text.length; at += 1) {
      const unit = this.#text.charCodeAt(at);
      if (unit === QUOTE || unit === BACKSLASH) return at;
      if (unit < SPACE) fail('a string contains an unescaped control character');
    }
    fail('unterminated string');
  }

  #escape(): string {
    const kind = this.#text[this.#at] ?? '';
    this.#at += 1;
    if (kind !== 'u') return ESCAPES[kind] ?? fail('a string contains an invalid escape');
    const digits =
      this.#match(UNICODE_ESCAPE) ?? fail('a string contains an incomplete \\u escape');
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #literal<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#failHere('missing or invalid value');
    this.#at += word.length;
    return value;
  }

  #number(): JsonNumber {
    return new JsonNumber(this.#match(NUMBER) ?? this.#failHere('missing or invalid value'));
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const matched = pattern.exec(this.#text)?.[0];
    if (matched !== undefined) this.#at += matched.length;
    return matched;
  }

  /** Skips white space, and returns whether it is followed by the character, which is then skipped. */
  #skip(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      // Space, line feed, carriage return, tab.
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }

  /** Fails because of the next character. Outside strings, JSON is ASCII: other characters look like white space or quotes. */
  #failHere(rule: string): never {
    fail(/[^ -~]/.test(this.#text[this.#at] ?? '') ? NOT_ASCII : rule);
  }
}

const NOT_ASCII =
  'a character outside strings is not printable ASCII, such as a no-break space or a curly quotation mark';

function fail(rule: string): never {
  throw new InvalidJsonError(rule);
}
