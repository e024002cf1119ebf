import { expect } from 'chai';
import {
  exchange,
  expectEnd,
  expectFree,
  expectService,
  responsesAfter,
} from '../support/cases.js';
import { checkResponse, type Expected, errorOf } from '../support/check-response.js';
import { RawConnection } from '../support/raw-connection.js';
import {
  create,
  freshId,
  lines,
  MARK,
  type Parts,
  plantText,
  request,
} from '../support/requests.js';
import { useSharedService } from '../support/service.js';

type Fields = NonNullable<Parts['headers']>;

const LIVEZ: Parts = { method: 'GET', target: '/livez' };
const WEBSOCKET: Fields = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
/** The fields that Java's `HttpClient` sends with the first request of a connection. */
const JAVA: Fields = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
};

const OFFERS: Readonly<Record<string, Fields>> = {
  'of HTTP/2 as Java sends it': JAVA,
  'of HTTP/2 among other connection options': {
    ...JAVA,
    connection: 'keep-alive, Upgrade, HTTP2-Settings',
  },
  'of a WebSocket': WEBSOCKET,
  'that is empty': { connection: 'upgrade', upgrade: '' },
  'without Connection: upgrade': { upgrade: 'h2c' },
};

/** The first bytes of an HTTP/2 connection: the preface, SETTINGS, WINDOW_UPDATE and HEADERS. */
const HTTP2_PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from(
    '00001204000000000000030000006400040200000000020000000000000408000000000001ff0001',
    'hex',
  ),
  Buffer.from('000011010500000001828441866c2e42b3d74d7a8825b650c3abb615c153032a2f2a', 'hex'),
]);

describe('HTTP/2 without an upgrade', () => {
  const service = useSharedService();

  const livez = request(LIVEZ);
  const deliveries: Readonly<Record<string, readonly Uint8Array[]>> = {
    'in one segment': [HTTP2_PREFACE],
    'cut within the preface': [HTTP2_PREFACE.subarray(0, 2), HTTP2_PREFACE.subarray(2)],
    'followed by more frames': [HTTP2_PREFACE, Buffer.alloc(30_000)],
    'after a request': [livez, HTTP2_PREFACE],
  };
  for (const [title, segments] of Object.entries(deliveries)) {
    it(`is a 4000 that is received before any reset, ${title}`, async () => {
      using connection = await RawConnection.open(service.port);
      for (const segment of segments) await connection.sent(segment);
      if (segments[0] === livez) checkResponse(await connection.response(), { otherContent: true });
      checkResponse(await connection.response(), { error: 4000, connection: 'close' });
      expect(await connection.ending()).to.deep.equal({ by: 'end', rest: '' });
    });
  }

  it('is a 4000 when the preface is not exactly that of HTTP/2', async () => {
    await exchange(service.port, lines('PRI * HTTP/1.1', 'Host: a'), 4000);
  });
});

/** The fuzzer pipelines such requests, whose bodies are requests, too. */
describe('A request that offers an upgrade', () => {
  const service = useSharedService();

  /** Sends each segment after the service had time to read the previous one. */
  async function sendApart(connection: RawConnection, segments: Iterable<Uint8Array>) {
    using other = await RawConnection.open(service.port);
    for (const segment of segments) {
      await connection.sent(segment);
      await expectService(other);
    }
  }

  /** Checks the one response to one request, and that the connection serves another request. */
  async function expectOneKept(segments: Iterable<Uint8Array>, expected: Expected = {}) {
    using connection = await RawConnection.open(service.port);
    await sendApart(connection, segments);
    checkResponse(await connection.response(), { connection: 'keep-alive', ...expected });
    await expectService(connection);
    connection.halfClose();
    await expectEnd(connection);
  }

  describe('keeps its connection open when nothing is pipelined', () => {
    for (const [title, headers] of Object.entries(OFFERS)) {
      it(`GET and POST, with an offer ${title}`, async () => {
        await expectOneKept([request({ ...LIVEZ, headers })], { otherContent: true });
        await expectOneKept([create({ headers })]);
        await expectOneKept(headAndBody(create({ headers })));
      });
    }

    it('also when it is refused', async () => {
      const unknown = request({ method: 'GET', target: `/${MARK}`, headers: JAVA });
      await expectOneKept([unknown], { error: 4040 });
      await expectOneKept([request({ body: '', headers: JAVA })], { error: 4001 });
    });
  });

  it('without credentials is a 4010 whose body is not executed', async () => {
    const id = freshId();
    const headers = { ...JAVA, authorization: undefined };
    const inner = create({ body: plantText(id) });
    const segments = headAndBody(create({ headers, body: inner }));
    const responses = await responsesAfter(service.port, (it) =>
      sendApart(it, [...segments, inner]),
    );
    expect(responses.map(errorOf)).to.deep.equal([4010]);
    await expectFree(service.port, id);
  });

  it('with Expect: 100-continue gets the interim response, then the final one', async () => {
    using connection = await RawConnection.open(service.port);
    const headers = { ...JAVA, expect: '100-continue' };
    const [head, payload] = headAndBody(create({ headers, chunks: [plantText()] }));
    connection.send(head);
    expect(await connection.nextStatus()).to.equal(100);
    connection.send(payload);
    const response = await connection.response();
    checkResponse(response, { toOperation: true, connection: 'keep-alive' });
    expect(response.interim).to.deep.equal([100]);
    await expectService(connection);
  });
});

function headAndBody(bytes: Buffer): [head: Buffer, body: Buffer] {
  const end = bytes.indexOf('\r\n\r\n') + 4;
  return [bytes.subarray(0, end), bytes.subarray(end)];
}
