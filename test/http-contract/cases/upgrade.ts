import { expect } from 'chai';
import { asking, creating, expectFree, groups, responsesTo } from '../support/cases.js';
import { errorOf } from '../support/check-response.js';
import { create, freshId, JAVA, type Parts, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const UPGRADES: Readonly<Record<string, NonNullable<Parts['headers']>>> = {
  'to HTTP/2, as Java sends it': JAVA,
  'to HTTP/2, among other options': { ...JAVA, connection: 'keep-alive, Upgrade, HTTP2-Settings' },
  'to a WebSocket': { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  'in `Proxy-Connection`': { 'proxy-connection': 'Upgrade', upgrade: 'h2c' },
};

const NO_UPGRADES: Readonly<Record<string, NonNullable<Parts['headers']>>> = {
  'without `Connection: upgrade`': { upgrade: 'h2c' },
  'with another option': { connection: 'keep-alive, x-upgrade', upgrade: 'websocket' },
  'with an empty `Upgrade`': { connection: 'upgrade', upgrade: '' },
  'without `Upgrade`': { connection: 'upgrade' },
};

/** The fuzzer pipelines upgrade requests, cut anywhere, whose bodies are requests themselves. */
describe('Upgrades', () => {
  const service = useSharedService();

  const closed = { connection: 'close' } as const;
  const livez = { ...closed, otherContent: true };
  const elsewhere = { target: '/x', headers: JAVA };
  groups(service)(
    'The response to an upgrade request closes the connection, because Node.js drops what follows:',
    ...Object.entries(UPGRADES).flatMap(([title, headers]) => [
      asking(`GET that requests an upgrade ${title}`, { target: '/livez', headers }, livez),
      creating(`POST that requests an upgrade ${title}`, { headers }, closed),
    ]),
    creating('even without a body', { body: '', headers: JAVA }, { ...closed, error: 4001 }),
    asking('even for a path that does not exist', elsewhere, { ...closed, error: 4040 }),
  );

  for (const [title, headers] of Object.entries(NO_UPGRADES)) {
    it(`A request ${title} does not request an upgrade, so the next one is served`, async () => {
      const closing = create({ headers: { connection: 'close' } });
      const responses = await responsesTo(service().port, create({ headers }), create(), closing);
      expect(responses.map(errorOf)).to.deep.equal([undefined, undefined, undefined]);
    });
  }

  it('An upgrade request without credentials gets a 4010, and its body is not treated as a request', async () => {
    const id = freshId();
    const inner = create({ body: plantText(id) });
    const refused = create({ headers: { ...JAVA, authorization: undefined }, body: inner });
    const responses = await responsesTo(service().port, refused, inner);
    expect(responses.map(errorOf)).to.deep.equal([4010]);
    await expectFree(service().port, id);
  });
});
