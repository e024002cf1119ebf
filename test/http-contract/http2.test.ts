import { expect } from 'chai';
import { exchange } from './cases.js';
import { checkResponse } from './check-response.js';
import { RawConnection } from './raw-connection.js';
import { lines, request } from './requests.js';
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
