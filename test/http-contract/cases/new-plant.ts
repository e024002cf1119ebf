import { expect } from 'chai';
import { type Case, creating, exchange, testEach } from '../support/cases.js';
import type { Expected } from '../support/check-response.js';
import { isDescribedNewPlant } from '../support/described-response.js';
import { create, freshId, MARK, NUMBER_MARK, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const ZEROS = '0'.repeat(15_000);

/** The whole number of a spelling. */
const IDS: readonly (readonly [spelling: string, value: bigint])[] = [
  ['-0.0e99999999999999999999', 0n],
  [`1${ZEROS}e-15000`, 1n],
  ['9007199254740993', 9007199254740993n],
  ['9.223372036854775807e18', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
];

const OTHER_NUMBERS = [
  ...['9223372036854775808', '-9223372036854775809', `1e${'9'.repeat(15_000)}`],
  ...['9'.repeat(15_000), `${NUMBER_MARK}.5`],
];

const NO_NUMBERS = ['null', `"${NUMBER_MARK}"`, '[]'];
const NO_STRINGS = ['null', NUMBER_MARK, `{"x":"${MARK}"}`];

const TEXTS = [
  ...['', '\t\r\n', 'a\0b', '"\\', '<script>alert(1)</script>', 'a\u0308\u00e4', '__proto__'],
  ...['\u{1f469}\u200d\u{1f33e}\uffff\ufdd0\ufeff\ufffd', '\u{1f335}'.repeat(900)],
];

describe('NewPlant', () => {
  const service = useSharedService();
  const stored = new Set<bigint>();

  describe('An id may be any whole number of int64, in any spelling', () => {
    for (const [spelling, value] of IDS) {
      it(short(spelling), async () => {
        const body = plantText(spelling);
        await exchange(service.port, create({ body }), stored.has(value) ? 4006 : {});
        stored.add(value);
        await exchange(service.port, create({ body: plantText(value) }), 4006);
      });
    }
  });

  describe('Another value of a field is a 4005 that names the field', () => {
    testEach(service, [
      ...OTHER_NUMBERS.map((value) => invalid(`"id":${value},"name":"x"`, 'id')),
      ...NO_NUMBERS.map((value) => invalid(`"id":${value},"name":"x"`, 'id')),
      ...NO_STRINGS.map((value) => invalid(`"id":1,"name":${value}`, 'name')),
      ...NO_STRINGS.map((value) => invalid(`"id":1,"name":"x","tag":${value}`, 'tag')),
    ]);
  });

  it('is described by the same rules', () => {
    const described = (members: string) => isDescribedNewPlant(`{${members}}`);
    for (const value of NO_NUMBERS) expect(described(`"id":${value},"name":"x"`)).to.equal(false);
    for (const value of NO_STRINGS) {
      expect(described(`"id":1,"name":${value}`), value).to.equal(false);
      expect(described(`"id":1,"name":"x","tag":${value}`), value).to.equal(false);
    }
    for (const members of [
      '',
      '"id":1',
      '"name":"x"',
      '"id":0.5,"name":"x"',
      '"id":1e400,"name":"x"',
    ])
      expect(described(members), members).to.equal(false);
    for (const text of TEXTS)
      expect(described(`"id":1,"name":${JSON.stringify(text)},"x":null`)).to.equal(true);
  });

  describe('A message names every invalid field', () => {
    testEach(service, [
      invalid('"id":null,"name":null,"tag":null', 'id', 'name', 'tag'),
      invalid(`"id":"${MARK}","name":"x","tag":1`, 'id', 'tag'),
      invalid('"ID":1,"Name":"x","TAG":1', 'id', 'name'),
      invalid('"id":1,"__proto__":{"name":"x"}', 'name'),
      creating('{}', { body: '{}' }, { error: 4005, says: 'id is required; name is required' }),
    ]);
  });

  describe('A name and a tag are returned with the same code points', () => {
    testEach(
      service,
      TEXTS.map((text) => {
        const parts = [`"tag":"${escaped(text)}"`, `"name":${JSON.stringify(text)}`];
        const body = `{${parts.join()},"id":${freshId()}}`;
        return creating(short(parts.join()), { body }, { plant: { name: text, tag: text } });
      }),
    );
  });

  describe('Other properties are ignored', () => {
    const many = Array.from({ length: 1000 }, (_, it) => `"p${it}":${it}`).join();
    const plant = { name: `${MARK} Monstera` };
    for (const rest of [
      ...[`"${MARK}":"${MARK}"`, '"":1', '"Id":"x","NAME":1,"Tag":null', '"then":1'],
      ...['"__proto__":{"tag":"polluted"}', '"constructor":{"prototype":{"tag":"polluted"}}'],
      ...['"toString":1,"valueOf":1,"hasOwnProperty":1,"error":1', many],
    ]) {
      testEach(service, [creating(short(rest), { body: plantText(undefined, rest) }, { plant })]);
    }
    testEach(service, [creating('and pollute nothing', {}, { plant })]);
  });

  describe('A second plant with an id is a 4006', () => {
    const send = (body: string, expected: Expected) =>
      exchange(service.port, create({ body }), { toOperation: true, ...expected });
    it('with the same content, or other content', async () => {
      const id = freshId();
      await send(`{"id":${id},"name":"first"}`, { plant: { name: 'first' } });
      await send(`{"id":${id},"name":"first"}`, { error: 4006, connection: 'keep-alive' });
      await send(`{"id":${id},"name":"second","tag":"t"}`, { error: 4006 });
    });
  });
});

function invalid(members: string, ...names: string[]): Case {
  return creating(short(`{${members}}`), { body: `{${members}}` }, { error: 4005, names });
}

/** Each code unit as an escape sequence. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16));
  return units.map((unit) => `\\u${unit.padStart(4, '0')}`).join('');
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 40)}… of ${text.length} characters` : text;
}
