import { expect } from 'chai';
import { asking, creating, expectFree, groups, responsesTo } from '../support/cases.js';
import { errorOf } from '../support/check-response.js';
import { create, freshId, JAVA, LIVEZ, type Parts, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const OFFERS: Readonly<Record<string, NonNullable<Parts['headers']>>> = {
  'of HTTP/2 as Java sends it': JAVA,
  'of HTTP/2 among other options': { ...JAVA, connection: 'keep-alive, Upgrade, HTTP2-Settings' },
  'of a WebSocket': { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  'in `Proxy-Connection`': { 'proxy-connection': 'Upgrade', upgrade: 'h2c' },
};

const NO_OFFERS: Readonly<Record<string, NonNullable<Parts['headers']>>> = {
  'without `Connection: upgrade`': { upgrade: 'h2c' },
  'with another option': { connection: 'keep-alive, x-upgrade', upgrade: 'websocket' },
  'with an empty `Upgrade`': { connection: 'upgrade', upgrade: '' },
  'without `Upgrade`': { connection: 'upgrade' },
};

/** The fuzzer pipelines requests with offers, cut anywhere, whose bodies are requests, too. */
describe('Upgrades', () => {
  const service = useSharedService();

  it('HTTP/2 without one is a 4000, received before any reset', async () => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    for (const before of [[], [LIVEZ]]) {
      const responses = await responsesTo(service().port, ...before, preface, Buffer.alloc(30_000));
      expect(responses.map(errorOf)).to.deep.equal([...Array(before.length), 4000]);
    }
  });

  const closed = { connection: 'close' } as const;
  const livez = { ...closed, otherContent: true };
  const elsewhere = { target: '/x', headers: JAVA };
  groups(service)(
    'A request that offers one gets a response that closes: Node.js drops what it has read after the offer',
    ...Object.entries(OFFERS).flatMap(([title, headers]) => [
      asking(`GET with an offer ${title}`, { target: '/livez', headers }, livez),
      creating(`POST with an offer ${title}`, { headers }, closed),
    ]),
    creating('even without a body', { body: '', headers: JAVA }, { ...closed, error: 4001 }),
    asking('even for a path that does not exist', elsewhere, { ...closed, error: 4040 }),
  );

  for (const [title, headers] of Object.entries(NO_OFFERS)) {
    it(`A request ${title} offers none: the next one runs`, async () => {
      const closing = create({ headers: { connection: 'close' } });
      const responses = await responsesTo(service().port, create({ headers }), create(), closing);
      expect(responses.map(errorOf)).to.deep.equal([undefined, undefined, undefined]);
    });
  }

  it('An offer without credentials is a 4010 whose body is not executed', async () => {
    const id = freshId();
    const inner = create({ body: plantText(id) });
    const refused = create({ headers: { ...JAVA, authorization: undefined }, body: inner });
    const responses = await responsesTo(service().port, refused, inner);
    expect(responses.map(errorOf)).to.deep.equal([4010]);
    await expectFree(service().port, id);
  });
});
