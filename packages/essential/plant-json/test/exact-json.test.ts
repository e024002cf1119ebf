import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidJsonError, JsonNumber, type JsonValue, parseJson } from '../src/exact-json.js';

const parse = (text: string | Buffer) => parseJson(Buffer.from(text).toString('latin1'));

const SPACE = ' \t\r\n';

const stringUnit = fc.nat(0x10ffff).map((it) => String.fromCodePoint(it).toWellFormed());

/** Converts numbers to doubles, as `JSON.parse` does. */
function rounded(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]));
}

describe('Exact JSON', () => {
  it('reads the same values as JSON.parse, except for the digits of numbers', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit, maxDepth: 8 }), fc.nat(4), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        expect(rounded(parse(spaced))).to.deep.equal(JSON.parse(spaced));
      }),
    );
  });

  it('refuses every truncated text, and every text that JSON.parse refuses', () => {
    const whole = '{"id":-1.5e+1,"name":"\\u0041\\n","x":[true,null,{}]}';
    for (let end = 0; end < whole.length; end += 1) {
      expect(() => parse(whole.slice(0, end))).to.throw(InvalidJsonError);
    }
    const changed = fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[]",:\\eE+-.019tx \n'));
    fc.assert(
      fc.property(changed, ([text, at, character]) => {
        const place = at % (text.length + 1);
        const other = text.slice(0, place) + character + text.slice(place + 1);
        let value: JsonValue;
        try {
          value = parse(other);
        } catch {
          return;
        }
        expect(rounded(value)).to.deep.equal(JSON.parse(other));
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps the digits of a number as they were written', () => {
    for (const text of ['9007199254740993', '-0', '1.0', '1E+2', '1e-7', '0.10']) {
      expect(parse(text)).to.deep.equal(new JsonNumber(text));
    }
  });

  it('reads every escape sequence, and the replacement character U+FFFD', () => {
    expect(parse('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83C\\uDF35x\uFFFD"')).to.equal(
      '"\\/\b\f\n\r\té🌵x\uFFFD',
    );
  });

  it('reads __proto__ like any other name', () => {
    const value = parse('{"__proto__":{"polluted":1}}') as object;
    expect(Object.keys(value)).to.deep.equal(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
  });

  const refused: Record<string, readonly (string | Buffer)[]> = {
    'it begins with a byte order mark': ['\uFEFF{}', '\uFEFF'],
    'a character outside strings is not printable ASCII, such as a no-break space or a curly quotation mark':
      ['\u00A0{}', '{“a”: 1}', '{"a":\u00A01}', '{"a":“b”}', '[1,\u200B2]', '{}\uFEFF', '{\0"\0'],
    'it is not UTF-8': [
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    ],
    'unexpected text after the end of the value': ['{}x', '1 2', '01', 'truely', '[]]'],
    'duplicate name in an object': ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"":1,"":2}]'],
    'a string contains a lone surrogate': ['"\\ud800"', '"\\udc00\\ud800"', '{"\\ud800":1}'],
    'nested more than 32 levels deep': ['['.repeat(33), '{"a":'.repeat(33)],
    'expected a name in double quotes': ['{a:1}', '{,}', '{"a":1,}', "{'a':1}"],
    'a string contains an unescaped control character': ['"\n"', '"\u0000"', '{"a\u001f":1}'],
    'unterminated string': ['"', '"\\"', '"a\\u0041'],
    'a string contains an invalid escape': ['"\\x41"', '"\\', '"\\\n"', '"\\U0041"'],
    'a string contains an incomplete \\u escape': ['"\\u00', '"\\u00g0"', '"\\u-123"'],
    'missing or invalid value': ['', ' ', 'nul', 'NaN', '+1', '.5', '-', '[1,]'],
    "expected ':'": ['{"a"}', '{"a",1}'],
    "expected ',' or '}'": ['{"a":1', '{"a":1;', '{"a":01}'],
    "expected ',' or ']'": ['[1', '[1}', '[1 2]'],
  };
  for (const [rule, texts] of Object.entries(refused)) {
    it(`names the broken rule: ${rule}`, () => {
      for (const text of texts) {
        expect(() => parse(text), JSON.stringify(text))
          .to.throw()
          .with.property('message', rule);
      }
    });
  }

  it('allows 32 levels, and any number of values on one level', () => {
    const deepest = '['.repeat(31) + ']'.repeat(31);
    expect(() => parse(`[${deepest},${'[],'.repeat(40)}${deepest}]`)).not.to.throw();
    expect(() => parse(`[[],${'['.repeat(32)}`)).to.throw('nested more than 32 levels deep');
  });

  it('allows four kinds of white space around tokens, but only spaces in strings', () => {
    const parts = ['{', '"a"', ':', '[', '1', ',', 'true', ']', ',', '"b"', ':', '{', '}', '}'];
    const value = parse(`${SPACE}${parts.join(SPACE)}${SPACE}`);
    expect(rounded(value)).to.deep.equal({ a: [1, true], b: {} });
    expect(parse('" a b "')).to.equal(' a b ');
  });
});

describe('The whole number of a JSON number', () => {
  const whole = (text: string) => new JsonNumber(text).toWholeNumber();

  it('equals what exact arithmetic computes from its digits', () => {
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,24})$/);
    const decimals = fc.stringMatching(/^[0-9]{1,24}$/);
    fc.assert(
      fc.property(
        fc.constantFrom('', '-'),
        digits,
        fc.oneof(decimals, fc.stringMatching(/^0{1,9}$/)),
        fc.integer({ min: -30, max: 30 }),
        (sign, before, after, exponent) => {
          // The number times 10^54 is whole: it has at most 24 decimals, and the exponent is not below -30.
          const scaled =
            BigInt(sign + before + after) * 10n ** BigInt(54 + exponent - after.length);
          const exact = scaled % 10n ** 54n === 0n ? scaled / 10n ** 54n : undefined;
          const tooLong = exact !== undefined && `${exact}`.replace('-', '').length > 19;
          const expected = tooLong ? undefined : exact;
          expect(whole(`${sign}${before}.${after}e${exponent}`)).to.equal(expected);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
