import { type Case, creating, groups } from '../support/cases.js';
import { freshId, MARK, NUMBER_MARK, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

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
    'An id may be any whole number of int64, in any spelling, and is taken then',
    ...Object.entries(IDS).flatMap(([spelling, id]) => [
      creating(short(spelling), { body: plantText(spelling) }),
      creating(`${id}, with the same content`, { body: plantText(id) }, 4006),
      creating(`${id}, with other content`, { body: `{"id":${id},"name":"other"}` }, 4006),
    ]),
  );

  group(
    'Another value of a field is a 4005 that names the field',
    ...NO_IDS.map((value) => invalid(`"id":${value},"name":"x"`, 'id')),
    ...NO_STRINGS.map((value) => invalid(`"id":1,"name":${value}`, 'name')),
    ...NO_STRINGS.map((value) => invalid(`"id":1,"name":"x","tag":${value}`, 'tag')),
  );

  group(
    'A message names every invalid field',
    invalid('"id":null,"name":null,"tag":null', 'id', 'name', 'tag'),
    invalid(`"id":"${MARK}","name":"x","tag":1`, 'id', 'tag'),
    invalid('"ID":1,"Name":"x","TAG":1', 'id', 'name'),
    invalid('"id":1,"__proto__":{"name":"x"}', 'name'),
    creating('{}', { body: '{}' }, { error: 4005, says: 'id is required; name is required' }),
  );

  group(
    'A name and a tag are returned with the same code points',
    ...TEXTS.map((text) => {
      const parts = [`"tag":"${escaped(text)}"`, `"name":${JSON.stringify(text)}`];
      const body = `{${parts.join()},"id":${freshId()}}`;
      return creating(short(parts.join()), { body }, { plant: { name: text, tag: text } });
    }),
  );

  const many = Array.from({ length: 1000 }, (_, it) => `"p${it}":${it}`).join();
  const plant = { name: `${MARK} Monstera` };
  group(
    'Other properties are ignored',
    ...[
      ...[`"${MARK}":"${MARK}"`, '"":1', '"Id":"x","NAME":1,"Tag":null', '"then":1'],
      ...['"__proto__":{"tag":"polluted"}', '"constructor":{"prototype":{"tag":"polluted"}}'],
      ...['"toString":1,"valueOf":1,"hasOwnProperty":1,"error":1', many],
    ].map((rest) => creating(short(rest), { body: plantText(undefined, rest) }, { plant })),
    creating('and pollute nothing', {}, { plant }),
  );
});

function invalid(members: string, ...names: string[]): Case {
  return creating(short(`{${members}}`), { body: `{${members}}` }, { error: 4005, names });
}

/** Each code unit as an escape sequence. */
function escaped(text: string): string {
  const code = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');
  return text.replaceAll(/./gs, (unit) => `\\u${code(unit)}`);
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 40)}… of ${text.length} characters` : text;
}
