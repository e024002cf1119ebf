import { expect } from 'chai';
import {
  asking,
  creating,
  expectEnd,
  expectFree,
  expectService,
  groups,
  responsesTo,
  sending,
} from '../support/cases.js';
import { checkResponse, type Expected, errorOf } from '../support/check-response.js';
import { RawConnection } from '../support/raw-connection.js';
import {
  CHUNKED,
  create,
  freshId,
  headOf,
  LIVEZ,
  MARK,
  plantOfSize,
  plantText,
  TOKEN,
} from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const LARGE = 65_536;
const LIMITS = {
  HEADERS_TIMEOUT_MS: '3000',
  REQUEST_TIMEOUT_MS: '3500',
  KEEP_ALIVE_TIMEOUT_MS: '2000',
};
const TOO_LARGE: Expected = { error: 4003, toOperation: true };
const CLOSES: Expected = { ...TOO_LARGE, connection: 'close' };
const LARGE_HEAD: Expected = { error: 4310, connection: 'close' };

/** The headers that Azure's authentication adds. */
const ACCESS_PROXY = {
  'x-ms-client-principal': 'e'.repeat(6000),
  'x-ms-token-aad-id-token': 'e'.repeat(4000),
  'x-ms-token-aad-access-token': 'e'.repeat(4000),
  'x-ms-token-aad-refresh-token': 'e'.repeat(3000),
};

describe('The size limit', () => {
  const service = useSharedService();
  const group = groups(service);
  const filler = (bytes: number) => 'x'.repeat(bytes);

  const limit = 16_384;
  const cacti = `{"id":${freshId()},"name":"${'\u{1f335}'.repeat(4100)}"}`;
  const endless = { headers: CHUNKED, body: `7fffffff\r\n${filler(17_000)}` };
  group(
    'of the body:',
    creating('16,384 bytes are accepted', { body: plantOfSize(limit) }),
    creating('16,384 bytes in as many chunks are accepted', { chunks: [...plantOfSize(limit)] }),
    creating('16,385 bytes get a 4003', { body: plantOfSize(limit + 1) }, TOO_LARGE),
    creating('one more, in as many chunks', { chunks: [...plantOfSize(limit + 1)] }, TOO_LARGE),
    creating('fewer characters but more bytes get a 4003', { body: cacti }, TOO_LARGE),
    ...['16385', '9223372036854775807'].map((length) => {
      const headers = { 'content-length': length };
      return creating(`${length} announced bytes get a 4003`, { headers, body: '{' }, CLOSES);
    }),
    creating('a chunk that is only announced to be too large gets a 4003', endless, CLOSES),
  );

  const rest = create({ headers: { 'x-filler': '' } }).indexOf('\r\n\r\n') + 4;
  const inOneField = (bytes: number) => ({ headers: { 'x-filler': filler(bytes - rest) } });
  const endlessLine = Buffer.from(`GET /${filler(20 * 1024)}`);
  const short = { headers: { 'x-f': Array(1200).fill(filler(12)) } };
  group(
    'of the request line and fields:',
    creating('16,384 bytes with one long field are accepted', inOneField(limit)),
    asking('a path of 15 KiB gets a 4040', { target: `/${filler(15 * 1024)}` }, 4040),
    sending('17,000 bytes with one long field get a 4310', create(inOneField(17_000)), LARGE_HEAD),
    sending('17 KiB in 1,200 short fields get a 4310', create(short), LARGE_HEAD),
    sending('60 KiB get a 4310', create(inOneField(60 * 1024)), LARGE_HEAD),
    sending('a request line of 20 KiB without an end gets a 4310', endlessLine, LARGE_HEAD),
  );

  const last = { authorization: undefined, Authorization: `Bearer ${TOKEN}` };
  const fields = (count: number) => ({ headers: { a: Array(count - 5).fill(''), ...last } });
  group(
    'of the number of fields:',
    creating('1,000 are accepted, with the token in the last', fields(1000)),
    sending('1,001 get a 4310', create(fields(1001)), LARGE_HEAD),
    sending('15,000 get a 4310', create(fields(15_000)), LARGE_HEAD),
  );

  /** A request whose body is another request, and whose length is its last field. */
  const hiding = (inner: Buffer, offers: number) => {
    const others = { upgrade: Array(offers).fill('h2c'), a: Array(993).fill('') };
    const headers = { connection: 'Upgrade', ...others, 'content-length': `${inner.length}` };
    return Buffer.concat([headOf({ headers }), inner]);
  };
  for (const offers of [1, 2, 40]) {
    it(`does not hide the Content-Length of an upgrade request with ${999 + offers} fields`, async () => {
      for (const before of [0, 1, 2]) {
        const id = freshId();
        const hidden = hiding(create({ body: plantText(id) }), offers);
        const bytes = [...Array(before).fill(LIVEZ), hidden];
        const errors = (await responsesTo(service().port, ...bytes)).map(errorOf);
        expect(errors).to.deep.equal([...Array(before), offers === 1 ? 4004 : 4310]);
        await expectFree(service().port, id);
      }
    });
  }
});

describe("With Node.js's header limit raised,", () => {
  const service = useSharedService({ NODE_OPTIONS: '--max-http-header-size=65536' });
  const limited =
    'too many or too large headers: at most 1000 headers, and 65536 bytes of request line and headers';

  groups(service)(
    'a request head',
    creating('of 17 KB, with the fields that an access proxy adds, is accepted', {
      headers: ACCESS_PROXY,
    }),
    sending('of 70,000 bytes gets a 4310', create({ headers: { 'x-f': 'x'.repeat(70_000) } }), {
      ...LARGE_HEAD,
      says: limited,
    }),
  );
});

describe('A body larger than the buffers of Node.js, in small chunks,', () => {
  const service = useSharedService({ BODY_LIMIT: `${LARGE}` });
  const chunks = (size: number) => plantOfSize(size).match(/.{1,16}/g) ?? [];
  const says = `the body must have at most ${LARGE} bytes`;

  groups(service)(
    'that arrives together with its headers',
    creating('is read completely', { chunks: chunks(LARGE) }),
    creating(
      'is refused one byte above the limit, which the message names',
      { chunks: chunks(LARGE + 1) },
      { error: 4003, says },
    ),
  );
});

describe('Time limits', () => {
  const service = useSharedService(LIMITS);

  async function expectTimeout(bytes: Uint8Array, expected: Expected = {}): Promise<void> {
    using connection = await RawConnection.open(service().port);
    connection.send(bytes);
    const drip = setInterval(() => connection.send('x'), 100);
    const response = await connection.response().finally(() => clearInterval(drip));
    checkResponse(response, { error: 4080, connection: 'close', ...expected });
  }

  it('answer slow headers or bodies with a 4080, and close a silent connection', async () => {
    const silent = await RawConnection.open(service().port);
    const idle = await RawConnection.open(service().port);
    await expectService(idle);
    const slowFields = Buffer.from(`GET /livez HTTP/1.1\r\nHost: ${MARK}\r\nX: `);
    const headers = { 'content-length': '10000', 'x-request-id': 'slow-body' };
    await Promise.all([
      expectTimeout(slowFields),
      expectTimeout(headOf({ headers }), { toOperation: true, requestId: 'slow-body' }),
      expectEnd(silent),
      expectEnd(idle),
    ]);
  });
});
