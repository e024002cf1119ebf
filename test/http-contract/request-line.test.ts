import { expect } from 'chai';
import { exchange, expectService } from './cases.js';
import { checkResponse, errorOf } from './check-response.js';
import { RawConnection, type ReceivedResponse } from './raw-connection.js';
import { create, freshId, lines, plantText, request } from './requests.js';
import { useService } from './service.js';

const LIVEZ = request({ method: 'GET', target: '/livez' });

/** The first bytes of an HTTP/2 connection: the preface, SETTINGS, WINDOW_UPDATE and HEADERS. */
const HTTP2_PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from(
    '00001204000000000000030000006400040200000000020000000000000408000000000001ff0001',
    'hex',
  ),
  Buffer.from('000011010500000001828441866c2e42b3d74d7a8825b650c3abb615c153032a2f2a', 'hex'),
]);

/** Request lines that Node's parser accepts, though they are not HTTP. */
const FOREIGN: readonly string[] = [
  'POST /plants RTSP/1.0',
  'POST /plants RTSP/1.1',
  'POST  /plants HTTP/1.1',
  'POST /plants  HTTP/1.1',
];

/**
 * After the first request of a connection, a request in a segment of its own is checked only when its version or its
 * length is unusual (decision 39). There is no RTSP/1.1.
 */
function isLookedAtLater(line: string): boolean {
  return !line.endsWith('RTSP/1.1');
}

describe('A request line that is not HTTP', () => {
  const service = useService();

  const foreign = (line: string, id: bigint): Buffer => {
    const bytes = create({ body: plantText(id) });
    return Buffer.concat([Buffer.from(line), bytes.subarray(bytes.indexOf('\r\n'))]);
  };

  /** Sends each segment after the service had time to read the previous one. */
  async function responsesTo(segments: readonly Uint8Array[]): Promise<ReceivedResponse[]> {
    const other = await RawConnection.open(service.port);
    const connection = await RawConnection.open(service.port);
    for (const segment of segments) {
      await connection.sent(segment);
      await expectService(other);
    }
    connection.halfClose();
    const responses = await connection.responsesUntilEnd();
    connection.destroy();
    other.destroy();
    return responses;
  }

  const before: Readonly<Record<string, () => Uint8Array[]>> = {
    'as the first request': () => [],
    'after a GET': () => [LIVEZ],
    'after a body': () => [create()],
    'after a body in chunks': () => [create({ chunks: [plantText()] })],
    'after a body that ends in a line break': () => [create({ body: `${plantText()}\r\n` })],
    'after three requests': () => [create(), LIVEZ, create()],
  };
  for (const line of FOREIGN) {
    for (const [place, requests] of Object.entries(before)) {
      it(`${line} ${place} is a 4000 and not executed, also when it is pipelined or sent later`, async () => {
        const id = freshId();
        const later = isLookedAtLater(line) || requests().length === 0;
        for (const segments of later ? [requests(), [Buffer.concat(requests())]] : []) {
          const responses = await responsesTo([...segments, foreign(line, id)]);
          expectRefused(responses, requests().length);
        }
        expectRefused(
          await responsesTo([Buffer.concat([...requests(), foreign(line, id)])]),
          requests().length,
        );
        await exchange(service.port, create({ body: plantText(id) }), {});
      });
    }

    it(`${line} is a 4000 wherever it is cut`, async () => {
      const id = freshId();
      const bytes = foreign(line, id);
      const cuts = Array.from({ length: line.length + 2 }, (_, at) => at + 1);
      for (const prefix of [Buffer.alloc(0), LIVEZ]) {
        const all = Buffer.concat([prefix, bytes]);
        const parted = cuts.map((at) => [
          all.subarray(0, prefix.length + at),
          all.subarray(prefix.length + at),
        ]);
        const responses = await Promise.all(parted.map(responsesTo));
        for (const some of responses) expectRefused(some, prefix.length === 0 ? 0 : 1);
      }
      await exchange(service.port, create({ body: plantText(id) }), {});
    });

    it(`${line} byte by byte is a 4000`, async () => {
      const id = freshId();
      const bytes = foreign(line, id);
      expectRefused(await responsesTo([...bytes].map((byte) => Buffer.of(byte))), 0);
      await exchange(service.port, create({ body: plantText(id) }), {});
    });

    it(`${line} is not a 4000 in a body, wherever it is cut`, async () => {
      const body = () => `{"id":${freshId()},"name":"x",\r\n"tag":"${line}"\r\n}\r\n`;
      const requests = Array.from({ length: line.length + 2 }, () => create({ body: body() }));
      const responses = await Promise.all(
        requests.map((bytes, at) => {
          const middle = bytes.indexOf('"tag":"') + 6 + at;
          return responsesTo([bytes.subarray(0, middle), bytes.subarray(middle)]);
        }),
      );
      expect(responses.flat().map(({ status }) => status)).to.deep.equal(
        Array(requests.length).fill(200),
      );
    });
  }

  function expectRefused(responses: readonly ReceivedResponse[], before: number): void {
    expect(responses.map(errorOf)).to.deep.equal([...Array(before).fill(undefined), 4000]);
    const last = responses.at(-1);
    if (last !== undefined) checkResponse(last, { error: 4000, connection: 'close' });
  }
});

describe('HTTP/2 without an upgrade', () => {
  const service = useService();

  const deliveries: Readonly<Record<string, readonly Uint8Array[]>> = {
    'in one segment': [HTTP2_PREFACE],
    'in two segments': [HTTP2_PREFACE.subarray(0, 24), HTTP2_PREFACE.subarray(24)],
    'cut within the preface': [HTTP2_PREFACE.subarray(0, 2), HTTP2_PREFACE.subarray(2)],
    'followed by more frames': [HTTP2_PREFACE, Buffer.alloc(30_000)],
    'after a request': [LIVEZ, HTTP2_PREFACE],
  };
  for (const [title, segments] of Object.entries(deliveries)) {
    it(`is a 4000 that is received before any reset, ${title}`, async () => {
      const connection = await RawConnection.open(service.port);
      for (const segment of segments) await connection.sent(segment);
      if (segments[0] === LIVEZ) checkResponse(await connection.response(), { otherContent: true });
      checkResponse(await connection.response(), { error: 4000, connection: 'close' });
      expect(await connection.ending()).to.deep.equal({ by: 'end', rest: '' });
      connection.destroy();
    });
  }

  it('is a 4000, also after an empty line', async () => {
    await exchange(service.port, Buffer.concat([Buffer.from('\r\n'), HTTP2_PREFACE]), {
      error: 4000,
      connection: 'close',
    });
  });

  it('is a 4000 when the preface is not exactly that of HTTP/2', async () => {
    await exchange(service.port, lines('PRI * HTTP/1.1', 'Host: a'), { error: 4000 });
  });
});
