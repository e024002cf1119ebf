import { type Case, creating, exchange, testEach } from '../cases.js';
import { freshId, MARK, NUMBER_MARK, plantText } from '../requests.js';
import { useSharedService } from '../service.js';

describe('JSON', () => {
  const service = useSharedService();

  describe('No body is a 4001', () => {
    testEach(service, [
      creating('Content-Length: 0', { body: '' }, { error: 4001 }),
      creating('chunks without bytes', { chunks: [] }, { error: 4001 }),
      {
        ...creating('neither Content-Length nor chunks', {}, { error: 4001 }),
        bytes: withoutBody(),
      },
    ]);
  });

  describe('A text that is not JSON is a 4004', () => {
    const texts = [
      ' ',
      '{',
      '}',
      '[',
      '"',
      '{]',
      '{"id"}',
      '{"id":}',
      '{"id":1,}',
      '{,"id":1}',
      '{"id":1 "name":"x"}',
      '{id:1}',
      "{'id':1}",
      '{"id":1}}',
      '{"id":1} x',
      '{"id":1}\0',
      '/**/{"id":1}',
      '{"id":1/**/}',
      '[1,]',
      '[1 2]',
      '1 2',
      'nul',
      'nulll',
      'True',
      'undefined',
      'NaN',
      '-Infinity',
      'a=1&b=2',
      '<plant/>',
      ...wrapped([
        '+1',
        '--1',
        '-',
        '.1',
        '1.',
        '1.e1',
        '01',
        '-01',
        '1e',
        '1e+',
        '1e1.5',
        '1..5',
        '0x1',
        '1_000',
        '1n',
        '\uff11',
      ]),
      ...wrapped([
        '"',
        '"x',
        "'x'",
        '"x"y',
        '"a\nb"',
        '"a\x1fb"',
        '"\\x41"',
        '"\\0"',
        '"\\u12"',
        '"\\u123g"',
        '"\\u{41}"',
        '"\\uD83C\\x"',
      ]),
      ...['\x0b', '\u00a0', '\u2028', '\ufeff'].flatMap((space) => [
        `${space}${plantText()}`,
        plantText().replace(':', `:${space}`),
        `${plantText()}${space}`,
      ]),
    ];
    testEach(
      service,
      texts.map((body) => creating(JSON.stringify(body), { body }, { error: 4004 })),
    );
    it('each beginning of a valid text', async () => {
      const text = '{"id":-1.5e+1,"name":"\\u0041\\n","x":[true,null,{}]}';
      for (let end = 1; end < text.length; end += 1) {
        const { bytes, expected } = creating('', { body: text.slice(0, end) }, { error: 4004 });
        await exchange(service.port, bytes, expected);
      }
    });
  });

  describe('A text that is JSON but not an object is a 4005', () => {
    for (const body of [
      'null',
      'true',
      NUMBER_MARK,
      '1e400',
      `"${MARK}"`,
      '[]',
      `[${plantText()}]`,
      ' [] ',
    ]) {
      testEach(service, [creating(body.slice(0, 60), { body }, { error: 4005 })]);
    }
  });

  describe('A byte order mark is a 4004', () => {
    testEach(
      service,
      [
        creating('of UTF-8', { body: Buffer.from(`\ufeff${plantText()}`) }),
        creating('of UTF-8, twice', { body: Buffer.from(`\ufeff\ufeff${plantText()}`) }),
        creating('of UTF-8, alone', { body: Buffer.from('\ufeff') }),
        creating('of UTF-16', { body: Buffer.from(`\ufeff${plantText()}`, 'utf16le') }),
        creating('of no kind, but a body in UTF-16', { body: Buffer.from(plantText(), 'utf16le') }),
        creating('of no kind, but a body in UTF-16 with that charset', {
          body: Buffer.from(plantText(), 'utf16le'),
          headers: { 'content-type': 'application/json; charset=utf-16le' },
        }),
      ].map(as4004),
    );
    testEach(service, [
      creating(
        'but within a string it is a character',
        { body: `{"id":${freshId()},"name":"\ufeffx\ufeff"}` },
        { plant: { name: '\ufeffx\ufeff' } },
      ),
    ]);
  });

  describe('Bytes that are not UTF-8 are a 4004', () => {
    const invalid: [title: string, bytes: number[]][] = [
      ['a continuation byte alone', [0x80]],
      ['a lead byte of two alone', [0xc3]],
      ['a lead byte of three and one more', [0xe2, 0x82]],
      ['an overlong slash of two', [0xc0, 0xaf]],
      ['the largest overlong of three', [0xe0, 0x9f, 0xbf]],
      ['the first surrogate', [0xed, 0xa0, 0x80]],
      ['a pair of surrogates', [0xed, 0xa0, 0xbc, 0xed, 0xbc, 0xb5]],
      ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
      ['0xFF', [0xff]],
      ['Latin-1', [0x70, 0xe4, 0x70]],
    ];
    const places: [place: string, before: string, after: string][] = [
      ['the name', '{"id":1,"name":"', '"}'],
      ['the tag', '{"id":1,"name":"x","tag":"', '"}'],
      ['a property name', '{"id":1,"name":"x","', '":1}'],
      ['an ignored value', '{"id":1,"name":"x","y":[{"z":"', '"}]}'],
      ['the end', plantText(), ''],
    ];
    testEach(
      service,
      invalid.flatMap(([title, bytes]) =>
        places.map(([place, before, after]) =>
          creating(
            `${title}, in ${place}`,
            { body: Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]) },
            { error: 4004 },
          ),
        ),
      ),
    );
  });

  describe('A name twice in one object is a 4004', () => {
    const objects = [
      '{"id":1,"id":1,"name":"x"}',
      '{"id":1,"name":"x","name":"x"}',
      '{"id":1,"name":"x","n\\u0061me":"x"}',
      '{"id":1,"name":"x","t\\u0061g":"y","tag":null}',
      '{"a":1,"a":1}',
      '{"":1,"":1}',
      '{"\\/":1,"/":1}',
      '{"\\"":1,"\\u0022":1}',
      '{"\\uD83C\\uDF35":1,"\u{1f335}":1}',
      '{"__proto__":1,"__proto__":1}',
      '{"constructor":1,"constructor":1}',
      '{"0":1,"0":1}',
      '{"length":1,"length":1}',
      '{"a":{"id":1,"id":1}}',
      '{"a":[{"b":{"c":[0,{"d":1,"d":1}]}}]}',
      '{"a":[],"b":{"a":1},"a":1}',
    ];
    testEach(
      service,
      objects.flatMap((body) => [
        creating(body, { body }, { error: 4004 }),
        creating(
          `${body} as an ignored value`,
          { body: plantText(undefined, `"more":${body}`) },
          { error: 4004 },
        ),
      ]),
    );
    testEach(
      service,
      [
        '"a":1,"A":1',
        '"a":{"a":{"a":1}}',
        '"a":[{"a":1},{"a":1}]',
        '"a":1,"a ":1," a":1',
        '"\u00e4":1,"a\u0308":1',
        '"x":{"id":1,"name":"x"}',
        '"1":1,"1.0":1,"01":1',
        '"\\u0000":1,"":1',
      ].map((rest) => creating(`but not ${rest}`, { body: plantText(undefined, rest) })),
    );
  });

  describe('Nesting', () => {
    const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const objects = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
    for (const nest of [arrays, objects]) {
      testEach(service, [
        creating(`31 ${nest.name} within the plant are fine`, {
          body: plantText(undefined, `"more":${nest(31)}`),
        }),
        creating(
          `32 ${nest.name} within the plant are a 4004`,
          { body: plantText(undefined, `"more":${nest(32)}`) },
          { error: 4004 },
        ),
        creating(`32 ${nest.name} are JSON`, { body: nest(32) }, { error: 4005 }),
        creating(`33 ${nest.name} are a 4004`, { body: nest(33) }, { error: 4004 }),
        creating(`2,700 ${nest.name} are a 4004`, { body: nest(2700) }, { error: 4004 }),
      ]);
    }
    testEach(service, [
      creating('brackets within strings do not count', {
        body: plantText(undefined, `"more":"${'[{'.repeat(100)}"`),
      }),
      creating('levels that were closed do not count', {
        body: plantText(undefined, `"more":[${Array(100).fill('[[]]').join()}]`),
      }),
      creating(
        '33 levels that are not closed are a 4004',
        { body: '['.repeat(33) },
        { error: 4004 },
      ),
      creating('16,384 levels are a 4004', { body: '['.repeat(16_384) }, { error: 4004 }),
    ]);
  });

  describe('A lone surrogate is a 4004', () => {
    const lone = [
      '\\uD800',
      '\\uDBFF',
      '\\uDC00',
      '\\udf35',
      'x\\uD800',
      '\\uD800\\uD800',
      '\\uDC00\\uD800',
      '\\uD83C\\uDF35\\uDF35',
      '\\uD83C\\u0041',
    ];
    const places: [place: string, text: (value: string) => string][] = [
      ['the name', (value) => `{"id":1,"name":"${value}"}`],
      ['the tag', (value) => plantText('1', `"tag":"${value}"`)],
      ['a property name', (value) => plantText('1', `"${value}":1`)],
      ['an ignored value', (value) => plantText('1', `"more":"${value}"`)],
      ['a name within an ignored value', (value) => plantText('1', `"more":[{"${value}":1}]`)],
      ['a value within an ignored value', (value) => plantText('1', `"more":[[{"x":"${value}"}]]`)],
      ['a text that is only a string', (value) => `"${value}"`],
    ];
    testEach(
      service,
      lone.flatMap((value) =>
        places.map(([place, text]) =>
          creating(`${value} in ${place}`, { body: text(value) }, { error: 4004 }),
        ),
      ),
    );
    testEach(
      service,
      ['\\uD83C\\uDF35', '\\ud83c\\udf35', '\\uD800\\uDC00', '\\uDBFF\\uDFFF', '\\\\uD800'].map(
        (value) =>
          creating(
            `but ${value} is none`,
            { body: `{"id":${freshId()},"name":"${value}","${value}":"${value}"}` },
            { plant: { name: JSON.parse(`"${value}"`) } },
          ),
      ),
    );
  });

  describe('Everything that JSON allows is accepted', () => {
    const values = [
      'null',
      'false',
      '-0',
      '-1.5',
      '123456789012345678901234567890',
      '1e+5',
      '1E-5',
      '0e999999',
      '1e400',
      '1e1000000000',
      '""',
      '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
      '"\\u0000\\u001f\\u007f"',
      '"\x7f"',
      '"\u0080\u2028\u2029"',
      '"\u{1f335}\u{10ffff}"',
      '"\\uFFFF\\ufffe\\uFDD0"',
      '[ ]',
      '[[],{}]',
      '{ }',
      '{"":0}',
      '{"a":[1,2,{"b":null}]}',
      '[1, 2\n,\t3\r]',
    ];
    testEach(
      service,
      values.map((value) =>
        creating(`"more": ${value}`, { body: plantText(undefined, `"more":${value}`) }),
      ),
    );
    testEach(service, [
      creating('white space of every kind, everywhere', {
        body: ` \t\r\n{ "id"\n:\t${freshId()} ,\r"name" : "x"\n} \t\r\n`,
      }),
      creating(
        'escapes in the names of fields',
        {
          body: `{"\\u0069d":${freshId()},"n\\u0061me":"x","\\u0074\\u0061\\u0067":"y"}`,
        },
        { plant: { name: 'x', tag: 'y' } },
      ),
      creating(
        'a text in several chunks, cut within a character',
        {
          chunks: cut(Buffer.from(`{"id":${freshId()},"name":"\u{1f335}\u00e4"}`)),
        },
        { plant: { name: '\u{1f335}\u00e4' } },
      ),
    ]);
  });
});

function as4004(one: Case): Case {
  return { ...one, expected: { ...one.expected, error: 4004 } };
}

function withoutBody(): Uint8Array {
  const { bytes } = creating('', { body: '' });
  return Buffer.from(Buffer.from(bytes).toString('latin1').replace('content-length: 0\r\n', ''));
}

function wrapped(values: readonly string[]): string[] {
  return values.flatMap((value) => [value, `{"id":1,"name":"x","more":${value}}`, `[${value}]`]);
}

function cut(bytes: Uint8Array): Uint8Array[] {
  return [...bytes].map((byte) => Uint8Array.of(byte));
}
