import { expect } from 'chai';
import { asking, creating, expectFree, groups, responsesTo } from '../support/cases.js';
import { checkResponse, errorOf } from '../support/check-response.js';
import { RawConnection } from '../support/raw-connection.js';
import { create, freshId, headOf, type Parts, plantText, request } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

type Fields = NonNullable<Parts['headers']>;

const LIVEZ: Parts = { method: 'GET', target: '/livez' };
/** The fields that Java's `HttpClient` sends with the first request of a connection. */
const JAVA: Fields = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
};

const OFFERS: Readonly<Record<string, Fields>> = {
  'of HTTP/2 as Java sends it': JAVA,
  'of HTTP/2 among other options': { ...JAVA, connection: 'keep-alive, Upgrade, HTTP2-Settings' },
  'of a WebSocket': { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  'that is empty': { connection: 'upgrade', upgrade: '' },
  'without Connection: upgrade': { upgrade: 'h2c' },
};

describe('HTTP/2 without an upgrade', () => {
  const service = useSharedService();

  it('is a 4000 that is received before any reset, also after a request', async () => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    for (const before of [[], [request(LIVEZ)]]) {
      const responses = await responsesTo(service.port, ...before, preface, Buffer.alloc(30_000));
      expect(responses.map(errorOf)).to.deep.equal([...before.map(() => undefined), 4000]);
    }
  });
});

/** The fuzzer pipelines such requests, cut anywhere, whose bodies are requests, too. */
describe('A request that offers an upgrade', () => {
  const service = useSharedService();

  const closed = { connection: 'close' } as const;
  const elsewhere = { target: '/x', headers: JAVA };
  groups(service)(
    'gets a response that closes: Node.js drops what it has read after the offer',
    ...Object.entries(OFFERS).flatMap(([title, headers]) => [
      asking(
        `GET with an offer ${title}`,
        { ...LIVEZ, headers },
        { ...closed, otherContent: true },
      ),
      creating(`POST with an offer ${title}`, { headers }, closed),
    ]),
    creating('also without a body', { body: '', headers: JAVA }, { ...closed, error: 4001 }),
    asking('also for a path that does not exist', elsewhere, { ...closed, error: 4040 }),
  );

  it('without credentials is a 4010 whose body is not executed', async () => {
    const id = freshId();
    const inner = create({ body: plantText(id) });
    const refused = create({ headers: { ...JAVA, authorization: undefined }, body: inner });
    const responses = await responsesTo(service.port, refused, inner);
    expect(responses.map(errorOf)).to.deep.equal([4010]);
    await expectFree(service.port, id);
  });

  it('with Expect: 100-continue gets the interim response, then the final one', async () => {
    using connection = await RawConnection.open(service.port);
    const body = plantText();
    const headers = { ...JAVA, expect: '100-continue', 'content-length': `${body.length}` };
    connection.send(headOf({ headers }));
    expect(await connection.nextStatus()).to.equal(100);
    connection.send(body);
    checkResponse(await connection.response(), { toOperation: true, connection: 'close' });
  });
});
