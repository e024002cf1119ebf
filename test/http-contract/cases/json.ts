import { type Case, creating, exchange, testEach } from '../cases.js';
import { freshId, MARK, NUMBER_MARK, plantText } from '../requests.js';
import { useService } from '../service.js';

describe('JSON', () => {
  const service = useService();

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
      '\n',
      ' \t\r\n ',
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '{]',
      '[}',
      '{{}}',
      '{"id"}',
      '{"id":}',
      '{:1}',
      '{"id":1,}',
      '{,"id":1}',
      '{"id":1,,"name":"x"}',
      '{"id":1 "name":"x"}',
      '{"id" 1}',
      '{"id"::1}',
      '{"id",1}',
      '{id:1}',
      '{1:1}',
      '{null:1}',
      "{'id':1}",
      '{"id":1}}',
      '{"id":1}{}',
      '{"id":1} x',
      '{"id":1},',
      '{"id":1}#',
      '{"id":1}\0',
      '\0{"id":1}',
      'x{"id":1}',
      '{"id":1}//x',
      '/**/{"id":1}',
      '{"id":1/**/}',
      '#x\n{"id":1}',
      '[1,]',
      '[,1]',
      '[1,,2]',
      '[1 2]',
      '[1:2]',
      '["x"',
      '["x",',
      '[1',
      '[a',
      '["a",4,4,]',
      '1 2',
      '1,2',
      'nul',
      'nulll',
      'Null',
      'NULL',
      'tru',
      'True',
      'TRUE',
      'truth',
      'fals',
      'FALSE',
      'undefined',
      'NaN',
      'nan',
      '-NaN',
      'Infinity',
      '-Infinity',
      '+Infinity',
      'inf',
      'function(){}',
      'new Date()',
      'a=1&b=2',
      '<plant/>',
      '---\nid: 1',
      '\x7b\x22',
      ...wrapped([
        '+1',
        '++1',
        '--1',
        '+-1',
        '- 1',
        '-',
        '+',
        '.',
        '.1',
        '-.1',
        '1.',
        '-1.',
        '1.e1',
        '1.e',
        '.e1',
        '01',
        '-01',
        '00',
        '-00',
        '0001',
        '01.5',
        '1e',
        '1E',
        '1e+',
        '1e-',
        '1e+-1',
        '1e1.5',
        '1e1e1',
        '1ee1',
        'e1',
        '1.5.5',
        '1..5',
        '0x1',
        '0X1F',
        '0b1',
        '0o7',
        '1_000',
        '1,000',
        '1 000',
        '1n',
        '1f',
        '1L',
        '1a',
        '\uff11',
        '\u0661',
        '\u22121',
      ]),
      ...wrapped([
        '"',
        '"x',
        'x"',
        "'x'",
        '`x`',
        '"x"y',
        '"x" "y"',
        '"a\nb"',
        '"a\tb"',
        '"a\rb"',
        '"a\0b"',
        '"a\x1fb"',
        '"a\bb"',
        '"\\"',
        '"\\x41"',
        '"\\a"',
        '"\\v"',
        '"\\0"',
        '"\\\'"',
        '"\\ "',
        '"\\\n"',
        '"\\u"',
        '"\\u1"',
        '"\\u12"',
        '"\\u123"',
        '"\\u123g"',
        '"\\u 123"',
        '"\\u+123"',
        '"\\u{41}"',
        '"\\U0041"',
        '"\\uD83C\\u"',
        '"\\uD83C\\x"',
        '"\\\u00e4"',
      ]),
      ...[
        '\x0b',
        '\x0c',
        '\u0085',
        '\u00a0',
        '\u2028',
        '\u2029',
        '\u3000',
        '\u200b',
        '\ufeff',
      ].flatMap((space) => [
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
      'false',
      '0',
      '-0',
      '1',
      NUMBER_MARK,
      '1e400',
      '""',
      `"${MARK}"`,
      '"\\u0000"',
      '[]',
      '[1]',
      `[${plantText()}]`,
      ' [] ',
      '[[]]',
      `"${'x'.repeat(1000)}"`,
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
      ['the last continuation byte alone', [0xbf]],
      ['two continuation bytes', [0x80, 0xbf]],
      ['a lead byte of two alone', [0xc3]],
      ['a lead byte of three alone', [0xe2]],
      ['a lead byte of three and one more', [0xe2, 0x82]],
      ['a lead byte of four alone', [0xf0]],
      ['a lead byte of four and two more', [0xf0, 0x9f, 0x8c]],
      ['an overlong slash of two', [0xc0, 0xaf]],
      ['an overlong NUL of two', [0xc0, 0x80]],
      ['an overlong DEL of two', [0xc1, 0xbf]],
      ['an overlong slash of three', [0xe0, 0x80, 0xaf]],
      ['the largest overlong of three', [0xe0, 0x9f, 0xbf]],
      ['an overlong slash of four', [0xf0, 0x80, 0x80, 0xaf]],
      ['the largest overlong of four', [0xf0, 0x8f, 0xbf, 0xbf]],
      ['the first surrogate', [0xed, 0xa0, 0x80]],
      ['the last surrogate', [0xed, 0xbf, 0xbf]],
      ['a pair of surrogates', [0xed, 0xa0, 0xbc, 0xed, 0xbc, 0xb5]],
      ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
      ['a lead byte of four beyond Unicode', [0xf5, 0x80, 0x80, 0x80]],
      ['a sequence of five', [0xf8, 0x88, 0x80, 0x80, 0x80]],
      ['a sequence of six', [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80]],
      ['0xFE', [0xfe]],
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
      '{"id":1,"id":2,"name":"x"}',
      '{"id":1,"name":"x","name":"x"}',
      '{"id":1,"name":"x","tag":"y","tag":"y"}',
      '{"id":1,"name":"x","n\\u0061me":"x"}',
      '{"\\u0069\\u0064":1,"id":1,"name":"x"}',
      '{"id":1,"name":"x","t\\u0061g":"y","tag":null}',
      '{"a":1,"id":1,"name":"x","a":1}',
      '{"a":1,"a":1}',
      '{"":1,"":1}',
      '{"\\u0000":1,"\\u0000":1}',
      '{"\\/":1,"/":1}',
      '{"\\n":1,"\\u000a":1}',
      '{"\\u000A":1,"\\u000a":1}',
      '{"\\"":1,"\\u0022":1}',
      '{"\\\\":1,"\\u005c":1}',
      '{"\\uD83C\\uDF35":1,"\u{1f335}":1}',
      '{"\u00e4":1,"\\u00e4":1}',
      '{"__proto__":1,"__proto__":1}',
      '{"__proto__":1,"\\u005f_proto__":1}',
      '{"constructor":1,"constructor":1}',
      '{"toString":1,"toString":1}',
      '{"hasOwnProperty":1,"hasOwnProperty":1}',
      '{"0":1,"0":1}',
      '{"length":1,"length":1}',
      `{"${MARK}":1,"${MARK}":1}`,
      '{"a":{"b":1,"b":1}}',
      '{"a":{"id":1,"id":1}}',
      '[{"a":1,"a":1}]',
      '[[[{"a":1,"\\u0061":1}]]]',
      '{"a":[{"b":{"c":[0,{"d":1,"d":1}]}}]}',
      '{"a":{"__proto__":1,"__proto__":1}}',
      '{"a":{},"a":{}}',
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
      '\\uDFFF',
      '\\ud83c',
      '\\udf35',
      '\\uD800x',
      'x\\uD800',
      '\\uD800\\uD800',
      '\\uDC00\\uD800',
      '\\uD83C\\uD83C\\uDF35',
      '\\uD83C\\uDF35\\uDF35',
      '\\uD83C\\\\uDF35',
      '\\uD83C\\n\\uDF35',
      '\\uD83C\\u0041',
      '\\uD83C \\uDF35',
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
      'true',
      'false',
      '0',
      '-0',
      '0.0',
      '-0.0',
      '1.5',
      '-1.5',
      '123456789012345678901234567890',
      '0.1e1',
      '1E5',
      '1e+5',
      '1E-5',
      '0e0',
      '0e999999',
      '1e400',
      '-1e400',
      '1e-400',
      '1e1000000000',
      '""',
      '" "',
      '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
      '"\\u0000\\u001f\\u007f"',
      '"\x7f"',
      '"\u0080\u2028\u2029"',
      '"\u{1f335}\u{10ffff}"',
      '"\ufdd0\uffff\ufffe"',
      '"\\uFFFF\\ufffe\\uFDD0"',
      '"// /* */ #"',
      '[]',
      '[ ]',
      '[[],{}]',
      '{}',
      '{ }',
      '{"":0}',
      '{"\\u0000":0}',
      '{"a":[1,2,{"b":null}]}',
      '[null,null]',
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
