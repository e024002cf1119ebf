import { expect } from 'chai';
import fc from 'fast-check';
import { exchange, responsesAfter } from './support/cases.js';
import {
  checkResponse,
  type Expected,
  errorOf,
  STATUS,
  saysClose,
} from './support/check-response.js';
import { verdictOn, wholeNumber } from './support/oracle.js';
import { RawConnection, type ReceivedResponse } from './support/raw-connection.js';
import {
  chunked,
  create,
  freshId,
  MARK,
  type Parts,
  plantText,
  request,
  TOKEN,
  UNSERVED,
} from './support/requests.js';
import { useService } from './support/service.js';

/**
 * The seed, which a failure prints together with its path. `FUZZ_SEED` sets it; `FUZZ_FACTOR` multiplies the runs.
 */
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
const FACTOR = Number(process.env.FUZZ_FACTOR ?? 1);

const anyText = fc.string({ unit: 'binary' });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 2 });

describe('Fuzzing', function () {
  this.timeout(30_000 * FACTOR);
  const service = useService();
  const stored = new Set<bigint>();
  let connection: RawConnection;

  before(async () => {
    connection = await RawConnection.open(service.port);
  });
  after(() => connection.destroy());

  const parameters = (numRuns: number) => ({ seed: SEED, numRuns: numRuns * FACTOR });

  /** Sends a create and compares the response with the verdict of the oracle. */
  async function compare(body: Uint8Array): Promise<void> {
    connection.send(request({ body }));
    const response = await connection.response();
    checkResponse(response, { toOperation: true, ...expectedFor(body) });
  }

  function expectedFor(body: Uint8Array): Expected {
    const verdict = verdictOn(body);
    if ('error' in verdict) return verdict;
    if (stored.has(verdict.id)) return { error: 4006 };
    stored.add(verdict.id);
    return { plant: verdict.plant };
  }

  it('a random NewPlant is returned exactly, in any spelling', async () => {
    const members = fc.record({ name: anyText, tag: fc.option(anyText, { nil: undefined }) });
    await fc.assert(
      fc.asyncProperty(
        int64,
        members,
        fc.infiniteStream(fc.boolean()),
        space,
        async (id, plant, coins, gap) => {
          const text = Object.entries({ id, ...plant })
            .filter(([, value]) => value !== undefined)
            .map(([name, value]) => `${quoted(name, coins)}${gap}:${written(value, coins)}${gap}`);
          const body = Buffer.from(`{${gap}${text.join(`,${gap}`)}}`);
          expect(verdictOn(body)).to.have.property('id', id);
          await compare(body);
        },
      ),
      parameters(75),
    );
  });

  it('a random JSON text gets the response that an independent reader expects', async () => {
    await fc.assert(
      fc.asyncProperty(jsonPlant(), (text) => compare(Buffer.from(text))),
      parameters(120),
    );
  });

  it('a damaged JSON text gets the response that an independent reader expects', async () => {
    await fc.assert(
      fc.asyncProperty(jsonPlant(), damages(JSON_SCRAPS), (text, all) =>
        compare(damaged(Buffer.from(text), all)),
      ),
      parameters(130),
    );
  });

  it('a number near a limit is an id exactly when it is in the range, wherever its point is', async () => {
    const near = fc.tuple(
      fc.constantFrom(
        2n ** 63n,
        -(2n ** 63n),
        2n ** 53n,
        -(2n ** 53n),
        2n ** 64n,
        0n,
        10n ** 18n,
        10n ** 19n,
      ),
      fc.bigInt({ min: -2n, max: 2n }),
      fc.integer({ min: -40, max: 40 }),
      fc.nat(3),
    );
    await fc.assert(
      fc.asyncProperty(near, async ([limit, offset, shift, zeros]) => {
        const spelling = shifted(limit + offset, shift, zeros);
        expect(wholeNumber(spelling)).to.be.oneOf([limit + offset, undefined]);
        await compare(Buffer.from(plantText(spelling)));
      }),
      parameters(75),
    );
  });

  it('random bytes get a listed response or none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), (bytes) => survives(service.port, bytes)),
      parameters(45),
    );
  });

  it('a damaged request gets a listed response', async () => {
    await fc.assert(
      fc.asyncProperty(wholeRequest(), damages(HTTP_SCRAPS), (bytes, all) =>
        survives(service.port, damaged(bytes, all)),
      ),
      parameters(120),
    );
  });

  it('a request made of random parts gets a listed response', async () => {
    const scraps = fc.array(fc.constantFrom(...HTTP_SCRAPS), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(scraps, (all) =>
        survives(service.port, Buffer.from(all.join(''), 'latin1')),
      ),
      parameters(90),
    );
  });

  it('random pipelined requests get their responses in order, and none after a close is carried out', async () => {
    const streams = fc.array(fc.constantFrom(...REQUESTS), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(streams, fc.array(fc.nat(3000), { maxLength: 4 }), async (kinds, cuts) => {
        const sent = kinds.map(([parts, error]) => ({ id: freshId(), parts, error }));
        const bytes = sent.map(({ id, parts }) => create({ body: plantText(id), ...parts }));
        const responses = await responsesAfter(service.port, (it) =>
          sendInPieces(it, Buffer.concat(bytes), cuts),
        );
        expect(responses.map(errorOf)).to.deep.equal(
          sent.slice(0, responses.length).map(({ error }) => error),
        );
        const last = responses.findIndex(saysClose);
        expect(responses).to.have.length(last === -1 ? sent.length : last + 1);
        for (const [at, { id, error }] of sent.entries()) {
          const created = at < responses.length && error === undefined;
          const again = create({ body: plantText(id) });
          await exchange(service.port, again, created ? { error: 4006 } : {});
        }
      }),
      parameters(45),
    );
  });

  it('the service still works afterwards', async () => {
    await exchange(service.port, create());
  });
});

/** Requests of all kinds, and the error of each. */
const REQUESTS: readonly [parts: Parts, error: number | undefined][] = [
  [{}, undefined],
  [{}, undefined],
  [{ headers: { expect: '100-continue' } }, undefined],
  [{ headers: { connection: 'close' } }, undefined],
  [{ body: '{}' }, 4005],
  [{ body: '' }, 4001],
  [{ chunks: ['{', '}'] }, 4005],
  [{ chunks: ['{'] }, 4004],
  [{ body: 'x'.repeat(17_000) }, 4003],
  [{ chunks: ['x'.repeat(9000), 'x'.repeat(9000)] }, 4003],
  [{ headers: { authorization: undefined } }, 4010],
  [{ headers: { 'content-type': undefined } }, 4002],
  [{ headers: { host: undefined } }, 4000],
  [{ headers: { expect: 'x' } }, 4000],
  [{ headers: { 'x-filler': 'x'.repeat(17_000) } }, 4310],
  [{ target: '/x' }, 4040],
  [{ method: UNSERVED }, 4050],
  [{ method: 'GARBAGE' }, 4000],
  [{ headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } }, 4000],
];

/** Sends the bytes in pieces, cut at these places. */
async function sendInPieces(connection: RawConnection, bytes: Buffer, cuts: number[]) {
  let from = 0;
  for (const to of [...cuts.sort((a, b) => a - b), bytes.length]) {
    await connection.sent(bytes.subarray(from, to));
    from = Math.max(from, to);
  }
}

/** Checks that every response to these bytes is a listed one, and that the connection ends when they end. */
async function survives(port: number, bytes: Uint8Array): Promise<void> {
  const toHead = /^\s*HEAD /.test(Buffer.from(bytes).toString('latin1'));
  const responses = await responsesAfter(port, (it) => it.send(bytes), toHead);
  if (!toHead) for (const response of responses) checkListed(response);
}

function checkListed(response: ReceivedResponse): void {
  const error = errorOf(response);
  const listed = Object.keys(STATUS)
    .map(Number)
    .filter((it) => it < 5000);
  checkResponse(response, error === undefined ? { otherContent: true } : { error: listed });
}

function quoted(text: string, coins: Iterator<boolean>): string {
  const units = [...text].map((character) =>
    coins.next().value ? escaped(character) : JSON.stringify(character).slice(1, -1),
  );
  return `"${units.join('')}"`;
}

function escaped(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16));
  return units.map((unit) => `\\u${unit.padStart(4, '0')}`).join('');
}

function written(value: unknown, coins: Iterator<boolean>): string {
  return typeof value === 'string' ? quoted(value, coins) : `${value}`;
}

/** Text that is usually a valid NewPlant, sometimes with a repeated name, a lone surrogate, or deep nesting. */
function jsonPlant(): fc.Arbitrary<string> {
  const string = fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        '\\u0061',
        '\\n',
        '\\"',
        '\u00e4',
        '\u{1f335}',
        '\\uD83C\\uDF35',
        '\\uD83C',
        '\\u0000',
        '/',
      ),
      {
        maxLength: 4,
        size: 'max',
      },
    )
    .map((units) => `"${units.join('')}"`);
  const name = fc.oneof(
    { arbitrary: string, weight: 1 },
    {
      arbitrary: fc.constantFrom(
        '"__proto__"',
        '"constructor"',
        '"x"',
        '"t\\u0061g"',
        '"Id"',
        '""',
      ),
      weight: 2,
    },
  );
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('null', 'true', 'false', '0', '-0', '1', '1e400', '"x"'),
      decimal(),
      string,
      fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all}]`),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map(asObject),
      fc.integer({ min: 28, max: 34 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
    ),
  }));
  const member = fc.oneof(
    {
      arbitrary: fc.tuple(
        fc.constant('"id"'),
        fc.oneof({ arbitrary: int64.map(String), weight: 9 }, value),
      ),
      weight: 1,
    },
    { arbitrary: fc.tuple(name, value), weight: 1 },
  );
  const usual = fc.tuple(int64.map(String), fc.oneof({ arbitrary: string, weight: 9 }, value));
  const plant = fc.tuple(
    usual,
    fc.array(member, { maxLength: 2 }),
    fc.option(fc.oneof(string, value)),
    space,
  );
  return fc.oneof(
    { arbitrary: value, weight: 1 },
    {
      arbitrary: plant.map(([[id, title], more, tag, gap]) => {
        const tags: [string, string][] = tag === null ? [] : [['"tag"', tag]];
        return gap + asObject([['"id"', id], ...more, ['"name"', title], ...tags]) + gap;
      }),
      weight: 9,
    },
  );
}

function asObject(members: [string, string][]): string {
  return `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`;
}

/** A decimal number in any spelling of JSON, and in some invalid ones. */
function decimal(): fc.Arbitrary<string> {
  const digits = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...'0000123456789'), maxLength });
  return fc
    .tuple(
      fc.constantFrom('', '', '', '-'),
      fc.oneof(
        fc.constant('0'),
        digits(20).map((all) => all.replace(/^0+/, '') || '1'),
      ),
      fc.option(digits(25)),
      fc.option(
        fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'), fc.oneof(fc.nat(30), fc.nat(99_999))),
      ),
    )
    .map(([sign, whole, fraction, exponent]) => {
      const tail = exponent === null ? '' : exponent.join('');
      return `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${tail}`;
    });
}

/** The number with its point shifted and an exponent that compensates for the shift. */
function shifted(value: bigint, shift: number, zeros: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = `${value < 0n ? -value : value}`;
  if (shift <= 0) return `${sign}${digits}${'0'.repeat(-shift)}${shift < 0 ? `e${shift}` : ''}`;
  const padded = digits.padStart(shift + 1, '0');
  const at = padded.length - shift;
  return `${sign}${padded.slice(0, at)}.${padded.slice(at)}${'0'.repeat(zeros)}e${shift}`;
}

interface Damage {
  readonly at: number;
  readonly length: number;
  readonly scrap: string;
}

function damages(scraps: readonly string[]): fc.Arbitrary<Damage[]> {
  const scrap = fc.oneof(
    fc.constantFrom(...scraps),
    fc.constant(''),
    fc.nat(255).map((byte) => String.fromCharCode(byte)),
  );
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(3),
    scrap,
  });
  return fc.array(damage, { minLength: 1, maxLength: 3 });
}

function damaged(bytes: Uint8Array, all: readonly Damage[]): Buffer {
  let text = Buffer.from(bytes).toString('latin1');
  for (const { at, length, scrap } of all) {
    const from = Math.floor(at * text.length);
    text = text.slice(0, from) + scrap + text.slice(from + length);
  }
  return Buffer.from(text, 'latin1');
}

function wholeRequest(): fc.Arbitrary<Uint8Array> {
  return fc.constantFrom(
    create(),
    create({ chunks: [plantText()] }),
    create({ body: '{}' }),
    create({ version: 'HTTP/1.0' }),
    create({ headers: { expect: '100-continue' } }),
    create({ headers: { authorization: undefined } }),
    Buffer.concat([create(), create(), create()]),
    request({ method: 'GET', target: '/livez' }),
  );
}

const JSON_SCRAPS = [
  ...'{}[]:,"\\0123.-+eE \n\t',
  'null',
  'true',
  '\\u',
  '\\uD800',
  '\\uDC00',
  '"id":1,',
  '"name":"x",',
  '\xef\xbb\xbf',
  '\xc3',
  '\xc3\xa4',
  '\xed\xa0\x80',
];

const HTTP_SCRAPS = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  ' ',
  ':',
  ',',
  ';',
  '\0',
  '\xff',
  'GET ',
  'POST ',
  'PUT ',
  'OPTIONS ',
  '/plants',
  '/livez',
  '*',
  ' HTTP/1.1\r\n',
  ' HTTP/1.0\r\n',
  ' HTTP/2.0\r\n',
  `Host: ${MARK}\r\n`,
  `Authorization: Bearer ${TOKEN}\r\n`,
  'Authorization: ',
  'Content-Type: application/json\r\n',
  'Content-Encoding: gzip\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 99999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Connection: close\r\n',
  'Connection: upgrade\r\nUpgrade: h2c\r\n',
  'Expect: 100-continue\r\n',
  `Expect: ${MARK}\r\n`,
  'X-Request-Id: scrap\r\n',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'ffffffff\r\n',
  '{}',
  plantText(),
  chunked(['{}']).toString('latin1'),
];
