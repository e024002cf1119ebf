import { expect } from 'chai';
import { asking, type Case, creating, exchange, expectEnd, testEach } from '../cases.js';
import { checkResponse, type Expected } from '../check-response.js';
import { RawConnection } from '../raw-connection.js';
import { chunked, create, freshId, headOf, MARK, plantOfSize, plantText } from '../requests.js';
import { useSharedService } from '../service.js';

const TOO_LARGE: Expected = { error: 4003, toOperation: true };

describe('Size', () => {
  const service = useSharedService();

  describe('of the body', () => {
    const limit = 16_384;
    testEach(service, [
      creating('16,384 bytes are fine', { body: plantOfSize(limit) }),
      creating('16,384 bytes in one chunk are fine', { chunks: [plantOfSize(limit)] }),
      creating('16,384 bytes in as many chunks are fine', { chunks: [...plantOfSize(limit)] }),
      creating('16,384 bytes in chunks of 16 bytes are fine', {
        chunks: plantOfSize(limit).match(/.{1,16}/g) ?? [],
      }),
      creating('16,384 bytes with white space at the end are fine', {
        body: plantText().padEnd(limit),
      }),
      creating('16,385 bytes are a 4003', { body: plantOfSize(limit + 1) }, TOO_LARGE),
      creating(
        '16,385 bytes in one chunk are a 4003',
        { chunks: [plantOfSize(limit + 1)] },
        TOO_LARGE,
      ),
      creating(
        '16,385 bytes in as many chunks are a 4003',
        { chunks: [...plantOfSize(limit + 1)] },
        TOO_LARGE,
      ),
      creating(
        '16,385 bytes with white space at the end are a 4003',
        { body: plantText().padEnd(limit + 1) },
        TOO_LARGE,
      ),
      creating(
        'bytes are counted, not characters',
        {
          body: `{"id":${freshId()},"name":"${'\u{1f335}'.repeat(4100)}"}`,
        },
        TOO_LARGE,
      ),
      creating('40 KiB are a 4003', { body: plantOfSize(40 * 1024) }, TOO_LARGE),
      creating('60 KiB are a 4003', { body: plantOfSize(60 * 1024) }, TOO_LARGE),
      creating('60 KiB that are not JSON are a 4003', { body: '{'.repeat(60 * 1024) }, TOO_LARGE),
      withLengthOnly('16,385 bytes that are only announced are a 4003', '16385', 4003),
      withLengthOnly('a gigabyte that is only announced is a 4003', '1073741824', 4003),
      withLengthOnly('2^53 + 1 bytes that are only announced are a 4003', '9007199254740993', 4003),
      withLengthOnly(
        '2^63 - 1 bytes that are only announced are a 4003',
        '9223372036854775807',
        4003,
      ),
      {
        title: 'a chunk that is only announced to be too large is refused',
        bytes: Buffer.concat([
          headOf({ headers: { 'transfer-encoding': 'chunked' } }),
          Buffer.from(`7fffffff\r\n${'x'.repeat(17_000)}`),
        ]),
        expected: { ...TOO_LARGE, connection: 'close' },
      },
    ]);

    it('an upload without end gets its response and is cut off', async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(headOf({ headers: { 'transfer-encoding': 'chunked' } }));
      const piece = chunked(['x'.repeat(8192)]).subarray(0, -5);
      let pieces = 0;
      while (!connection.ended && pieces < 20_000) {
        await Promise.race([connection.sent(piece), connection.ending(9000)]);
        pieces += 1;
      }
      expect(pieces).to.be.below(20_000);
      connection.destroy();
      await exchange(service.port, create(), {});
    });
  });

  describe('of request line and fields', () => {
    const filler = (bytes: number) => 'x'.repeat(bytes);
    const rest = create({ headers: { 'x-filler': '' } }).indexOf('\r\n\r\n') + 4;
    const inOneField = (bytes: number) => ({ headers: { 'x-filler': filler(bytes - rest) } });
    testEach(service, [
      creating('16,384 bytes with one long field are fine', inOneField(16_384)),
      creating('15 KiB of query are fine', { target: `/plants?${filler(15 * 1024)}` }),
      asking('a path of 15 KiB is a 4040', { target: `/${filler(15 * 1024)}` }, { error: 4040 }),
      tooLarge('17,000 bytes with one long field are a 4310', inOneField(17_000)),
      tooLarge('17 KiB in 1,200 short fields are a 4310', {
        headers: { 'x-f': Array(1200).fill(filler(12)) },
      }),
      tooLarge('17 KiB in the name of a field are a 4310', {
        headers: { [filler(17 * 1024)]: 'x' },
      }),
      tooLarge('17 KiB of path are a 4310', { target: `/${filler(17 * 1024)}` }),
      tooLarge('60 KiB are a 4310', { headers: { 'x-filler': filler(60 * 1024) } }),
      {
        title: 'a request line of 20 KiB without an end is a 4310',
        bytes: Buffer.from(`GET /${filler(20 * 1024)}`),
        expected: { error: 4310, connection: 'close' },
      },
    ]);
  });

  describe('in number of fields', () => {
    const fields = (count: number) => ({ headers: { 'x-f': Array(count - 5).fill('1') } });
    testEach(service, [
      creating('1,000 are fine', fields(1000)),
      creating('2,100 are fine', fields(2100)),
    ]);
  });
});

describe('Size with BODY_LIMIT', () => {
  const service = useSharedService({ BODY_LIMIT: '100' });

  testEach(service, [
    creating('as many bytes are fine', { body: plantOfSize(100) }),
    creating('one more is a 4003', { body: plantOfSize(101) }, { error: 4003 }),
    creating('one more in chunks is a 4003', { chunks: [...plantOfSize(101)] }, { error: 4003 }),
  ]);
});

describe('Time', () => {
  const service = useSharedService({
    HEADERS_TIMEOUT_MS: '1000',
    REQUEST_TIMEOUT_MS: '1500',
    KEEP_ALIVE_TIMEOUT_MS: '2000',
  });

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
    ['a slow request line', Buffer.from('GET /'), {}],
    ['slow fields', Buffer.from(`GET /livez HTTP/1.1\r\nHost: ${MARK}\r\nX: `), {}],
    [
      'a slow body',
      headOf({ headers: { 'content-length': '10000', 'x-request-id': 'slow-body' } }),
      { toOperation: true, requestId: 'slow-body' },
    ],
    [
      'a slow body in chunks',
      Buffer.concat([
        headOf({ headers: { 'transfer-encoding': 'chunked' } }),
        Buffer.from('fff\r\n{'),
      ]),
      { toOperation: true },
    ],
  ];
  const waits: [title: string, wait: () => Promise<void>][] = [
    ...slow.map(([title, bytes, expected]): [string, () => Promise<void>] => [
      `${title} is a 4080, although bytes keep arriving`,
      () => expectTimeout(bytes, expected),
    ]),
    [
      'a connection on which nothing is sent is closed without a response',
      async () => {
        const connection = await RawConnection.open(service.port);
        await expectEnd(connection);
      },
    ],
    [
      'an idle connection is closed without a response',
      async () => expectEnd(await afterOneRequest()),
    ],
    [
      'a second request that does not arrive completely is a 4080',
      async () => {
        const connection = await afterOneRequest();
        connection.send('GET /livez');
        checkResponse(await connection.response(), { error: 4080, connection: 'close' });
        await expectEnd(connection);
      },
    ],
    [
      'a second request whose body does not arrive completely is a 4080',
      async () => {
        const connection = await afterOneRequest();
        connection.send(headOf({ headers: { 'content-length': '10' } }));
        checkResponse(await connection.response(), { error: 4080, toOperation: true });
        await expectEnd(connection);
      },
    ],
  ];

  /** The outcomes of the waits, which run concurrently to save time. */
  let waiting: Promise<PromiseSettledResult<void>[]>;
  before(() => {
    waiting = Promise.allSettled(waits.map(([, wait]) => wait()));
  });
  for (const [at, [title]] of waits.entries()) {
    it(title, async () => {
      const outcome = (await waiting)[at];
      if (outcome?.status === 'rejected') throw outcome.reason;
    });
  }

  async function afterOneRequest(): Promise<RawConnection> {
    const connection = await RawConnection.open(service.port);
    connection.send(create());
    checkResponse(await connection.response(), {});
    return connection;
  }

  it('a request without credentials gets its response before its slow body', async () => {
    const connection = await RawConnection.open(service.port);
    const headers = { 'content-length': '10000', authorization: undefined };
    connection.send(headOf({ headers }));
    checkResponse(await connection.response(), { error: 4010, connection: 'close' });
    await expectEnd(connection);
    connection.destroy();
  });

  it('a request that arrives slowly but within the limit is served', async () => {
    const connection = await RawConnection.open(service.port);
    for (const byte of create()) await connection.sent(Uint8Array.of(byte));
    checkResponse(await connection.response(), { toOperation: true, connection: 'keep-alive' });
    connection.destroy();
  });
});

function withLengthOnly(title: string, length: string, error: number): Case {
  return {
    title,
    bytes: Buffer.concat([
      headOf({ headers: { 'content-length': length } }),
      Buffer.from('{"id":1'),
    ]),
    expected: { error, toOperation: true, connection: 'close' },
  };
}

function tooLarge(title: string, parts: Parameters<typeof create>[0]): Case {
  return { title, bytes: create(parts), expected: { error: 4310, connection: 'close' } };
}
