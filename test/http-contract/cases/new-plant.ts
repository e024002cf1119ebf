import { type Case, creating, exchange, testEach } from '../cases.js';
import { create, freshId, MARK, NUMBER_MARK, plantText } from '../requests.js';
import { useSharedService } from '../service.js';

const MAX = '9223372036854775807';
const MIN = '-9223372036854775808';

describe('NewPlant', () => {
  const service = useSharedService();
  const stored = new Set<bigint>();

  /** Creates a plant with the spelling, and then one with the plain number, whose id must be taken. */
  async function expectId(spelling: string, value: bigint): Promise<void> {
    const first = stored.has(value) ? { error: 4006 } : {};
    await exchange(service.port, create({ body: plantText(spelling) }), first);
    stored.add(value);
    await exchange(service.port, create({ body: plantText(value) }), { error: 4006 });
  }

  describe('An id may be any whole number of int64, in any spelling', () => {
    const zeros = '0'.repeat(15_000);
    const spellings: [spelling: string, value: bigint][] = [
      ['-0.0e99999999999999999999', 0n],
      ['10e-1', 1n],
      [`1${zeros}e-15000`, 1n],
      [`1e${zeros}3`, 1000n],
      ['-1.5E+1', -15n],
      ['9007199254740993', 9007199254740993n],
      ['9.223372036854775807e18', BigInt(MAX)],
      [MIN, BigInt(MIN)],
    ];
    for (const [spelling, value] of spellings) {
      it(short(spelling), () => expectId(spelling, value));
    }
  });

  describe('Another number is a 4005 that names id', () => {
    const long = '9'.repeat(15_000);
    for (const spelling of [
      ...['1.5', '1e-1', '9223372036854775807.5', '9223372036854775808', '-9223372036854775809'],
      ...['1e400', '1e1000000000', `1e${long}`, long, `0.${long}`, `${NUMBER_MARK}.5`],
    ]) {
      testEach(service, [
        creating(short(spelling), { body: plantText(spelling) }, { error: 4005, names: ['id'] }),
      ]);
    }
  });

  describe('A field of another type is a 4005 that names the field', () => {
    const notNumbers = ['null', 'true', '"1"', `"${NUMBER_MARK}"`, '[]', '{}'];
    const notStrings = ['null', 'true', NUMBER_MARK, '1e400', '[]', `{"x":"${MARK}"}`];
    testEach(service, [
      ...notNumbers.map((value) => invalid(`"id":${value},"name":"x"`, 'id')),
      ...notStrings.map((value) => invalid(`"id":1,"name":${value}`, 'name')),
      ...notStrings.map((value) => invalid(`"id":1,"name":"x","tag":${value}`, 'tag')),
    ]);
  });

  describe('A message names every invalid field', () => {
    testEach(service, [
      invalid('', 'id', 'name'),
      invalid('"id":1', 'name'),
      invalid('"name":"x"', 'id'),
      invalid('"id":null,"name":null,"tag":null', 'id', 'name', 'tag'),
      invalid(`"id":"${MARK}","name":"x","tag":1`, 'id', 'tag'),
      invalid('"id":1.5,"name":1', 'id', 'name'),
      invalid('"ID":1,"Name":"x","TAG":1', 'id', 'name'),
      invalid('"i\\u0064\\u0000":1,"name":"x"', 'id'),
      invalid(`"${MARK}":"${MARK}"`, 'id', 'name'),
      invalid('"__proto__":{"id":1,"name":"x"}', 'id', 'name'),
      invalid('"id":1,"__proto__":{"name":"x"}', 'name'),
    ]);
  });

  describe('A name and a tag are returned with the same code points', () => {
    for (const text of [
      ...['', '\t\r\n', 'a\0b', '"', '\\', '<script>alert(1)</script>', 'a\u0308', '\u00e4'],
      ...['\u{1f469}\u200d\u{1f33e}', '\uffff\ufffe\ufdd0', '\ufeff', '\ufffd', '__proto__'],
      ...['x'.repeat(10_000), '\u{1f335}'.repeat(3000)],
    ]) {
      const title = short(JSON.stringify(text));
      const quoted = JSON.stringify(text);
      testEach(service, [
        creating(
          `${title} as a name`,
          { body: `{"id":${freshId()},"name":${quoted}}` },
          { plant: { name: text } },
        ),
        creating(
          `${title} as a tag`,
          { body: `{"id":${freshId()},"name":"x","tag":${quoted}}` },
          { plant: { name: 'x', tag: text } },
        ),
      ]);
      if (text.length > 50) continue;
      const escaped = [...Array(text.length).keys()]
        .map((at) => escapeUnit(text.charCodeAt(at)))
        .join('');
      testEach(service, [
        creating(
          `${title} as a name, escaped`,
          { body: `{"tag":"${escaped}","name":"${escaped}","id":${freshId()}}` },
          { plant: { name: text, tag: text } },
        ),
      ]);
    }
  });

  describe('Other properties are ignored', () => {
    for (const rest of [
      ...[`"${MARK}":"${MARK}"`, '"":1', '"Id":"x","NAME":1,"Tag":null', '"_id":1', '"then":1'],
      ...['"__proto__":{"tag":"polluted"}', '"constructor":{"prototype":{"tag":"polluted"}}'],
      ...['"toString":1,"valueOf":1,"hasOwnProperty":1', '"error":1,"message":"x"'],
    ]) {
      testEach(service, [
        creating(
          rest,
          { body: plantText(undefined, rest) },
          { plant: { name: `${MARK} Monstera` } },
        ),
      ]);
    }
    testEach(service, [
      creating('and pollute nothing', {}, { plant: { name: `${MARK} Monstera` } }),
      creating('a thousand of them', {
        body: plantText(undefined, [...Array(1000).keys()].map((it) => `"p${it}":${it}`).join()),
      }),
      creating(
        'also before the fields',
        {
          body: `{"__proto__":{"x":1},"tag":"y","name":"x","z":1,"id":${freshId()}}`,
        },
        { plant: { name: 'x', tag: 'y' } },
      ),
    ]);
  });

  describe('A second plant with an id is a 4006', () => {
    const first = { name: 'first' };
    for (const [title, second] of [
      ['with the same content', '"name":"first"'],
      ['with other content', '"name":"second","tag":"t"'],
    ] as const) {
      it(title, async () => {
        const id = freshId();
        const send = (body: string, expected: object) =>
          exchange(service.port, create({ body }), { toOperation: true, ...expected });
        await send(`{"id":${id},"name":"first"}`, { plant: first });
        await send(`{"id":${id},${second}}`, { error: 4006, connection: 'keep-alive' });
        await send(`{"id":${id},${second}}`, { error: 4006 });
      });
    }

    it('but a refused plant does not take the id', async () => {
      const id = freshId();
      for (const [parts, error] of [
        [{ body: `{"id":${id},"name":1}` }, 4005],
        [{ body: `{"id":${id},"name":"x"` }, 4004],
        [{ body: plantText(id), headers: { authorization: undefined } }, 4010],
        [{ body: plantText(id), headers: { 'content-type': 'text/plain' } }, 4002],
        [{ body: plantText(id), headers: { host: undefined } }, 4000],
        [{ body: plantText(id, `"more":"${'x'.repeat(16_384)}"`) }, 4003],
      ] as const) {
        await exchange(service.port, create(parts), { error });
      }
      await exchange(service.port, create({ body: plantText(id) }), {});
    });
  });
});

function invalid(members: string, ...names: string[]): Case {
  return creating(`{${members}}`, { body: `{${members}}` }, { error: 4005, names });
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 40)}… of ${text.length} characters` : text;
}
