import { expect } from 'chai';
import {
  exchange,
  expectEnd,
  expectFree,
  expectService,
  responsesAfter,
} from '../support/cases.js';
import { checkResponse, type Expected, errorOf, saysClose } from '../support/check-response.js';
import { RawConnection, type ReceivedResponse } from '../support/raw-connection.js';
import {
  chunked,
  create,
  freshId,
  headOf,
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

/** Ways to cut a request into segments. */
const DELIVERIES: Readonly<Record<string, (head: Buffer, body: Buffer) => Buffer[]>> = {
  'in the same segment': (head, body) => [Buffer.concat([head, body])],
  'in a second segment': (head, body) => [head, body],
  'in two segments after the headers': (head, body) => [head, ...halves(body)],
  'half in the segment of the headers': (head, body) => {
    const [first, second] = halves(body);
    return [Buffer.concat([head, first]), second];
  },
  'byte by byte': (head, body) => [...Buffer.concat([head, body])].map((byte) => Buffer.of(byte)),
};

const FRAMINGS: Readonly<Record<string, (body: Buffer) => { framing: Fields; payload: Buffer }>> = {
  'with Content-Length': (body) => ({
    framing: { 'content-length': `${body.length}` },
    payload: body,
  }),
  'in chunks': (body) => ({
    framing: { 'transfer-encoding': 'chunked' },
    payload: chunked([body]),
  }),
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

describe('A request that offers an upgrade', () => {
  const service = useSharedService();

  /** Sends each segment after the service had time to read the previous one. */
  async function sendApart(connection: RawConnection, segments: readonly Uint8Array[]) {
    const other = await RawConnection.open(service.port);
    for (const segment of segments) {
      await connection.sent(segment);
      await expectService(other);
    }
    other.destroy();
  }

  /** Checks the one response to one request, and that the connection serves another request. */
  async function expectOneKept(segments: readonly Uint8Array[], expected: Expected) {
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
        const { head, payload } = post(headers, 'with Content-Length');
        await expectOneKept([head, payload], { toOperation: true });
      });
    }

    it('also when it is refused', async () => {
      const unknown = request({ method: 'GET', target: `/${MARK}`, headers: JAVA });
      await expectOneKept([unknown], { error: 4040 });
      await expectOneKept([request({ body: '', headers: JAVA })], { error: 4001 });
    });

    it('also when every request of the connection offers it', async () => {
      using connection = await RawConnection.open(service.port);
      for (const headers of [JAVA, WEBSOCKET, JAVA]) {
        connection.send(create({ headers }));
        checkResponse(await connection.response(), { toOperation: true, connection: 'keep-alive' });
      }
    });
  });

  it('without credentials is a 4010 whose body is not executed', async () => {
    const id = freshId();
    const { head, payload } = post(
      { ...JAVA, authorization: undefined },
      'with Content-Length',
      id,
    );
    const responses = await responsesTo([head, payload, payload]);
    expect(responses.map(errorOf)).to.deep.equal([4010]);
    await expectFree(service.port, id);
  });

  it('in HTTP/1.0 is served, and closes', async () => {
    const bytes = create({ version: 'HTTP/1.0', headers: JAVA });
    await exchange(service.port, bytes, { toOperation: true, connection: 'close' });
  });

  it('with Expect: 100-continue gets the interim response, then the final one', async () => {
    using connection = await RawConnection.open(service.port);
    const { head, payload } = post({ ...JAVA, expect: '100-continue' }, 'in chunks');
    connection.send(head);
    expect(await connection.nextStatus()).to.equal(100);
    await sendApart(connection, halves(payload));
    const response = await connection.response();
    checkResponse(response, { toOperation: true, connection: 'keep-alive' });
    expect(response.interim).to.deep.equal([100]);
    await expectService(connection);
  });

  describe('never has its body executed as a request, and keeps its connection open', () => {
    for (const framing of Object.keys(FRAMINGS)) {
      for (const [cut, segments] of Object.entries(DELIVERIES)) {
        it(`${framing}, the body ${cut}`, async () => {
          const id = freshId();
          const { head, payload } = post(JAVA, framing, id);
          await expectOneKept(segments(head, payload), { error: 4004, toOperation: true });
          await expectFree(service.port, id);
        });
      }
    }
  });

  describe('never has the body of the next request executed as a request', () => {
    const before: Readonly<Record<string, readonly Uint8Array[]>> = {
      GET: [request({ ...LIVEZ, headers: JAVA })],
      'POST in chunks': [create({ chunks: [plantText()], headers: JAVA })],
      'GET after another request': [request(LIVEZ), request({ ...LIVEZ, headers: WEBSOCKET })],
    };
    for (const [title, offering] of Object.entries(before)) {
      for (const framing of Object.keys(FRAMINGS)) {
        it(`${title}, and a body ${framing} in the segment after its headers`, async () => {
          const id = freshId();
          const { head, payload } = post({}, framing, id);
          const responses = await responsesTo([Buffer.concat([...offering, head]), payload]);
          await expectFree(service.port, id);
          await expectNoneDropped(responses, [...offering, head]);
          for (const it of responses.slice(offering.length)) expect(errorOf(it)).to.equal(4004);
        });
      }
    }
  });

  /** Sends the segments separately. */
  const responsesTo = (segments: readonly Uint8Array[]) =>
    responsesAfter(service.port, (it) => sendApart(it, segments));

  /**
   * Checks that each request has its response, in order; or that a response with `Connection: close` is the last, and
   * no later request was executed.
   */
  async function expectNoneDropped(
    responses: readonly ReceivedResponse[],
    requests: readonly Uint8Array[],
  ) {
    const last = responses.at(-1);
    if (last === undefined) throw new Error('no response');
    expect(responses.slice(0, -1).some(saysClose), 'only the last response closes').to.equal(false);
    if (responses.length !== requests.length)
      expect(
        saysClose(last),
        'a request has no response, and the last one does not close',
      ).to.equal(true);
    expect(responses.length).to.be.at.most(requests.length);
    for (const bytes of requests.slice(responses.length)) {
      const id = /"id":(\d+)/.exec(Buffer.from(bytes).toString('latin1'))?.[1];
      if (id !== undefined) await expectFree(service.port, BigInt(id));
    }
  }
});

/** Returns a create in two parts. With `inner`, its body is itself a request that creates this plant. */
function post(headers: Fields, framing: string, inner?: bigint) {
  const body = inner === undefined ? plantText() : create({ body: plantText(inner) });
  const framed = FRAMINGS[framing]?.(Buffer.from(body));
  if (framed === undefined) throw new Error(framing);
  return { head: headOf({ headers: { ...headers, ...framed.framing } }), payload: framed.payload };
}

function halves(bytes: Buffer): [Buffer, Buffer] {
  const middle = bytes.length >> 1;
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}
