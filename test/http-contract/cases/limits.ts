import { expect } from 'chai';
import {
  asking,
  creating,
  expectEnd,
  expectFree,
  expectService,
  responsesAfter,
  sending,
  testEach,
} from '../support/cases.js';
import { checkResponse, type Expected, errorOf } from '../support/check-response.js';
import { RawConnection } from '../support/raw-connection.js';
import {
  create,
  freshId,
  headOf,
  lines,
  MARK,
  type Parts,
  plantOfSize,
  plantText,
  request,
  TOKEN,
} from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const TOO_LARGE: Expected = { error: 4003, toOperation: true };
const LARGE = 65_536;
const LIMITS = {
  ...{ HEADERS_TIMEOUT_MS: '1000', REQUEST_TIMEOUT_MS: '1500', KEEP_ALIVE_TIMEOUT_MS: '2000' },
  BODY_LIMIT: `${LARGE}`,
};

describe('Size', () => {
  const service = useSharedService();

  describe('of the body', () => {
    const limit = 16_384;
    const fine: Readonly<Record<string, Parts>> = {
      '16,384 bytes': { body: plantOfSize(limit) },
      '16,384 bytes in as many chunks': { chunks: [...plantOfSize(limit)] },
    };
    const characters = `{"id":${freshId()},"name":"${'\u{1f335}'.repeat(4100)}"}`;
    const tooLarge: Readonly<Record<string, Parts>> = {
      '16,385 bytes': { body: plantOfSize(limit + 1) },
      '16,385 bytes in one chunk': { chunks: [plantOfSize(limit + 1)] },
      '16,385 bytes in as many chunks': { chunks: [...plantOfSize(limit + 1)] },
      'more bytes, but not characters,': { body: characters },
      '60 KiB': { body: plantOfSize(60 * 1024) },
    };
    testEach(service, [
      ...Object.entries(fine).map(([what, parts]) => creating(`${what} are fine`, parts)),
      ...Object.entries(tooLarge).map(([what, parts]) =>
        creating(`${what} are a 4003`, parts, TOO_LARGE),
      ),
      ...['16385', '9223372036854775807'].map((length) => ({
        title: `${length} bytes that are only announced are a 4003`,
        bytes: started({ 'content-length': length }, '{"id":1'),
        expected: { ...TOO_LARGE, connection: 'close' as const },
      })),
      sending(
        'a chunk that is only announced to be too large is refused',
        started({ 'transfer-encoding': 'chunked' }, `7fffffff\r\n${'x'.repeat(17_000)}`),
        { ...TOO_LARGE, connection: 'close' },
      ),
    ]);
  });

  describe('of request line and fields', () => {
    const filler = (bytes: number) => 'x'.repeat(bytes);
    const rest = create({ headers: { 'x-filler': '' } }).indexOf('\r\n\r\n') + 4;
    const inOneField = (bytes: number) => ({ headers: { 'x-filler': filler(bytes - rest) } });
    const tooLarge: Readonly<Record<string, Parts>> = {
      '17,000 bytes with one long field': inOneField(17_000),
      '17 KiB in 1,200 short fields': { headers: { 'x-f': Array(1200).fill(filler(12)) } },
      '60 KiB': inOneField(60 * 1024),
    };
    const expected = { error: 4310, connection: 'close' } as const;
    testEach(service, [
      creating('16,384 bytes with one long field are fine', inOneField(16_384)),
      asking('a path of 15 KiB is a 4040', { target: `/${filler(15 * 1024)}` }, 4040),
      ...Object.entries(tooLarge).map(([what, parts]) => ({
        ...{ title: `${what} are a 4310`, bytes: create(parts), expected },
      })),
      {
        title: 'a request line of 20 KiB without an end is a 4310',
        bytes: Buffer.from(`GET /${filler(20 * 1024)}`),
        expected,
      },
    ]);
  });

  describe('in number of fields', () => {
    const Authorization = `Bearer ${TOKEN}`;
    const fields = (count: number): Parts => {
      const others = Array(count - 5).fill('');
      return { headers: { authorization: undefined, a: others, Authorization } };
    };
    const expected = { error: 4310, connection: 'close' } as const;
    testEach(service, [
      creating('1,000 are fine, of which the token is the last', fields(1000)),
      { title: '1,001 are a 4310', bytes: create(fields(1001)), expected },
      { title: '15,000 are a 4310', bytes: create(fields(15_000)), expected },
    ]);

    /** A request whose body is another one, and whose length is its last field. */
    const hiding = (inner: Buffer, offers: number) => {
      const head = ['POST /plants HTTP/1.1', 'Host: a', `Authorization: ${Authorization}`];
      const fields = ['Content-Type: application/json', 'Connection: Upgrade'];
      fields.push(...Array(offers).fill('Upgrade: h2c'), ...Array(994).fill('a:'));
      return Buffer.concat([lines(...head, ...fields, `Content-Length: ${inner.length}`), inner]);
    };
    const livez = request({ method: 'GET', target: '/livez' });
    for (const [offers, error] of [
      [1, 4004],
      [2, 4310],
      [40, 4310],
    ] as const) {
      for (const before of [[], [livez], [livez, livez]]) {
        it(`${999 + offers}, with offers of an upgrade, do not hide the length of the body, after ${before.length} requests`, async () => {
          const id = freshId();
          const hidden = hiding(create({ body: plantText(id) }), offers);
          const responses = await responsesAfter(service.port, (it) =>
            it.send(Buffer.concat([...before, hidden])),
          );
          expect(responses.map(errorOf)).to.deep.equal([...before.map(() => undefined), error]);
          await expectFree(service.port, id);
        });
      }
    }
  });
});

describe('A body that is larger than the buffers of Node.js, in small chunks,', () => {
  const service = useSharedService(LIMITS);
  const chunks = (size: number) => plantOfSize(size).match(/.{1,16}/g) ?? [];

  testEach(service, [
    creating('is read completely', { chunks: chunks(LARGE) }),
    creating(
      'is refused with the limit',
      { chunks: chunks(LARGE + 1) },
      { error: 4003, says: `the body must have at most ${LARGE} bytes` },
    ),
  ]);

  it('is read completely when it arrives after its headers', async () => {
    using connection = await RawConnection.open(service.port);
    using other = await RawConnection.open(service.port);
    const type = 'application/json;garbage " ,/ =';
    const headers = { 'content-type': type, 'content-encoding': 'IDENTITY' };
    const bytes = create({ chunks: chunks(LARGE), headers });
    const [head, end] = [bytes.indexOf('\r\n\r\n') + 4, bytes.length - 5];
    for (const [from, to] of [[0, head], [head, end], [end]] as const) {
      await connection.sent(bytes.subarray(from, to));
      await expectService(other);
    }
    checkResponse(await connection.response(), { toOperation: true, connection: 'keep-alive' });
  });
});

describe('Time', () => {
  const service = useSharedService(LIMITS);

  async function expectTimeout(bytes: Uint8Array, expected: Expected): Promise<void> {
    const connection = await RawConnection.open(service.port);
    connection.send(bytes);
    const drip = setInterval(() => connection.send('x'), 100);
    try {
      checkResponse(await connection.response(), { error: 4080, connection: 'close', ...expected });
    } finally {
      clearInterval(drip);
      connection.destroy();
    }
  }

  const slow: [title: string, bytes: Uint8Array, expected: Expected][] = [
    ['slow fields', Buffer.from(`GET /livez HTTP/1.1\r\nHost: ${MARK}\r\nX: `), {}],
    [
      'a slow body',
      headOf({ headers: { 'content-length': '10000', 'x-request-id': 'slow-body' } }),
      { toOperation: true, requestId: 'slow-body' },
    ],
  ];
  const waits: Readonly<Record<string, () => Promise<void>>> = {
    ...Object.fromEntries(
      slow.map(([title, bytes, expected]) => [
        `${title} is a 4080, although bytes keep arriving`,
        () => expectTimeout(bytes, expected),
      ]),
    ),
    'a connection on which nothing is sent is closed without a response': async () =>
      expectEnd(await RawConnection.open(service.port)),
    'an idle connection is closed without a response': async () => {
      const connection = await RawConnection.open(service.port);
      await expectService(connection);
      await expectEnd(connection);
    },
  };

  /** The outcomes of the waits, which run concurrently to save time. */
  let waiting: Promise<PromiseSettledResult<void>[]>;
  before(() => {
    waiting = Promise.allSettled(Object.values(waits).map((wait) => wait()));
  });
  for (const [at, title] of Object.keys(waits).entries()) {
    it(title, async () => {
      const outcome = (await waiting)[at];
      if (outcome?.status === 'rejected') throw outcome.reason;
    });
  }
});

/** The headers of a create, and the beginning of its body. */
function started(headers: Parts['headers'], body: string): Buffer {
  return Buffer.concat([headOf({ headers: { ...headers } }), Buffer.from(body)]);
}
