import { type Case, creating, groups, short } from '../support/cases.js';
import { freshId, MARK, NUMBER_MARK, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** A text of each kind: the tests of `plant-json` have all rules, and compare random texts with `JSON.parse`. */
const NOT_JSON: Readonly<Record<string, string | Uint8Array>> = {
  'white space': ' ',
  'text after the value': `${plantText()}}`,
  'form data': 'a=1&b=2',
  'a byte order mark': `\ufeff${plantText()}`,
  'UTF-16': utf16(plantText()),
  'a byte that is not UTF-8 in an ignored value': Buffer.from(`{"id":1,"x":"\xff"}`, 'latin1'),
  'a duplicate name in an ignored value': plantText('1', '"more":[{"a":1,"\\u0061":1}]'),
  'a lone surrogate in an ignored name': plantText('1', '"more":[{"\\uDC00":1}]'),
  'nesting of 33 levels, the plant included,': plantText('1', `"more":${arrays(32)}`),
  'nesting of 16,384 levels': '['.repeat(16_384),
};

describe('A request body', () => {
  const group = groups(useSharedService());

  const { bytes } = creating('', { body: '' });
  const unframed = Buffer.from(bytes).toString('latin1').replace('content-length: 0\r\n', '');
  const headers = { 'content-type': 'application/json; charset=utf-16le' };
  const inUtf16 = { body: utf16(plantText()), headers };
  group(
    'must be a JSON object:',
    creating('chunks without bytes get a 4001', { chunks: [] }, 4001),
    { ...creating('no body gets a 4001', {}, 4001), bytes: Buffer.from(unframed) },
    creating('UTF-16 gets a 4004, even if the charset names it', inUtf16, 4004),
    ...Object.entries(NOT_JSON).map(([what, body]) =>
      creating(`${what} gets a 4004`, { body }, 4004),
    ),
    ...['null', NUMBER_MARK, `"${MARK}"`, `[${plantText()}]`].map((body) =>
      creating(`${body} gets a 4005`, { body }, 4005),
    ),
    creating(
      'JSON that ends early gets a 4004 that names the rule',
      { body: '{' },
      { error: 4004, says: 'the body is not valid JSON: expected a name in double quotes' },
    ),
    creating(
      'a plant in chunks of one byte is accepted',
      { chunks: [...Buffer.from(`{"id":${freshId()},"name":"ä🌵"}`)].map((it) => Buffer.of(it)) },
      { plant: { name: 'ä🌵' } },
    ),
  );
});

const ZEROS = '0'.repeat(15_000);

/** The whole numbers of spellings. */
const IDS: Readonly<Record<string, bigint>> = {
  '-0.0e99999999999999999999': 0n,
  [`1${ZEROS}e-15000`]: 1n,
  '9007199254740993': 9007199254740993n,
  '9.223372036854775807e18': 9223372036854775807n,
  '-9223372036854775808': -9223372036854775808n,
};

const NO_IDS = [
  ...['9223372036854775808', '-9223372036854775809', `1e${'9'.repeat(15_000)}`],
  ...['9'.repeat(15_000), `${NUMBER_MARK}.5`, 'null', `"${NUMBER_MARK}"`, '[]'],
];
const NO_STRINGS = ['null', NUMBER_MARK, `{"x":"${MARK}"}`];

const TEXTS = [
  ...['', '\t\r\n', 'a\0b', '"\\', '<script>alert(1)</script>', 'a\u0308\u00e4', '__proto__'],
  ...['\u{1f469}\u200d\u{1f33e}\uffff\ufdd0\ufeff\ufffd', '\u{1f335}'.repeat(900)],
];

describe('NewPlant', () => {
  const group = groups(useSharedService());

  group(
    'An id may be any int64 in any spelling, and is taken afterwards:',
    ...Object.entries(IDS).flatMap(([spelling, id]) => [
      creating(short(spelling), { body: plantText(spelling) }),
      creating(`${id} again, with the same content`, { body: plantText(id) }, 4006),
      creating(`${id} again, with other content`, { body: `{"id":${id},"name":"other"}` }, 4006),
    ]),
  );

  group(
    'An invalid value gets a 4005 that names the field:',
    ...NO_IDS.map((value) => invalid(`"id":${value},"name":"x"`, 'id')),
    ...NO_STRINGS.map((value) => invalid(`"id":1,"name":${value}`, 'name')),
    ...NO_STRINGS.map((value) => invalid(`"id":1,"name":"x","tag":${value}`, 'tag')),
  );

  group(
    'A message names every invalid field:',
    invalid('"id":null,"name":null,"tag":null', 'id', 'name', 'tag'),
    invalid(`"id":"${MARK}","name":"x","tag":1`, 'id', 'tag'),
    invalid('"ID":1,"Name":"x","TAG":1', 'id', 'name'),
    invalid('"id":1,"__proto__":{"name":"x"}', 'name'),
    creating('{}', { body: '{}' }, { error: 4005, says: 'id is required; name is required' }),
  );

  group(
    'A name and a tag are returned with the same code points:',
    ...TEXTS.map((text) => {
      const parts = [`"tag":"${escaped(text)}"`, `"name":${JSON.stringify(text)}`];
      const body = `{${parts.join()},"id":${freshId()}}`;
      return creating(short(parts.join()), { body }, { plant: { name: text, tag: text } });
    }),
  );

  const many = Array.from({ length: 1000 }, (_, it) => `"p${it}":${it}`).join();
  const plant = { name: `${MARK} Monstera` };
  group(
    'Other properties are ignored:',
    ...[
      `"${MARK}":"${MARK}","":1,"Id":"x","NAME":1,"Tag":null,"then":1`,
      '"__proto__":{"tag":"polluted"}',
      '"constructor":{"prototype":{"tag":"polluted"}}',
      '"toString":1,"valueOf":1,"hasOwnProperty":1,"error":1',
      many,
    ].map((rest) => creating(short(rest), { body: plantText(undefined, rest) }, { plant })),
    creating('no other property, after all of these', {}, { plant }),
  );
});

function invalid(fields: string, ...names: string[]): Case {
  return creating(short(`{${fields}}`), { body: `{${fields}}` }, { error: 4005, names });
}

/** Each code unit as an escape sequence. */
function escaped(text: string): string {
  const code = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');
  return text.replaceAll(/./gs, (unit) => `\\u${code(unit)}`);
}
