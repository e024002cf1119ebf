import { type Case, creating, testEach } from '../cases.js';
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
      ...[' ', '{', '{"id":1,}', '{id:1}', "{'id':1}", '{"id":1}}', '{"id":1}\0'],
      ...['{"id":1/**/}', 'nulll', 'undefined', 'NaN', 'a=1&b=2', '<plant/>', '01', '1.'],
      ...['"x', '"a\nb"', '"\\x41"', '"\\u123g"'].flatMap((text) => [text, plantText('1', text)]),
      ...['\u00a0', '\ufeff'].flatMap((space) => [
        `${space}${plantText()}`,
        `${plantText()}${space}`,
      ]),
    ];
    testEach(
      service,
      texts.map((body) => creating(JSON.stringify(body), { body }, { error: 4004 })),
    );
  });

  describe('A text that is JSON but not an object is a 4005', () => {
    for (const body of ['null', NUMBER_MARK, '1e400', `"${MARK}"`, '[]', `[${plantText()}]`]) {
      testEach(service, [creating(body.slice(0, 60), { body }, { error: 4005 })]);
    }
  });

  describe('A byte order mark is a 4004', () => {
    testEach(
      service,
      [
        creating('of UTF-8', { body: Buffer.from(`\ufeff${plantText()}`) }),
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
      ['an overlong slash of two', [0xc0, 0xaf]],
      ['the first surrogate', [0xed, 0xa0, 0x80]],
      ['Latin-1', [0x70, 0xe4, 0x70]],
    ];
    const places: [place: string, before: string, after: string][] = [
      ['the name', '{"id":1,"name":"', '"}'],
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
      '{"id":1,"name":"x","n\\u0061me":"x"}',
      '{"__proto__":1,"__proto__":1}',
      '{"a":[{"b":{"c":[0,{"d":1,"d":1}]}}]}',
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
      ['"a":1,"A":1', '"a":{"a":1}', '"x":{"id":1,"name":"x"}'].map((rest) =>
        creating(`but not ${rest}`, { body: plantText(undefined, rest) }),
      ),
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
      ]);
    }
    testEach(service, [
      creating('16,384 levels are a 4004', { body: '['.repeat(16_384) }, { error: 4004 }),
    ]);
  });

  describe('A lone surrogate is a 4004', () => {
    const lone = ['\\uD800', '\\udf35', '\\uDC00\\uD800', '\\uD83C\\u0041'];
    const places: [place: string, text: (value: string) => string][] = [
      ['the name', (value) => `{"id":1,"name":"${value}"}`],
      ['the tag', (value) => plantText('1', `"tag":"${value}"`)],
      ['a name within an ignored value', (value) => plantText('1', `"more":[{"${value}":1}]`)],
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
      ['\\uD83C\\uDF35', '\\\\uD800'].map((value) =>
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
      ...['null', '-1.5', '123456789012345678901234567890', '0e999999', '1e1000000000'],
      ...['"\\u0000\\u001f\\u007f"', '"\u0080\u2028\u2029"', '[[],{}]', '{"":0}'],
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

function cut(bytes: Uint8Array): Uint8Array[] {
  return [...bytes].map((byte) => Uint8Array.of(byte));
}
