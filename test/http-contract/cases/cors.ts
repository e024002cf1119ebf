import { expect } from 'chai';
import {
  asking,
  type Case,
  creating,
  exchange,
  expectService,
  testEach,
} from '../support/cases.js';
import { fieldValues, RawConnection, type ReceivedResponse } from '../support/raw-connection.js';
import { create, lines, type Parts, request, SERVED, UNSERVED } from '../support/requests.js';
import { ORIGINS, OTHER_SETTINGS, useSharedService } from '../support/service.js';

const [SHOP, DEVELOPMENT] = ORIGINS;
const STRANGERS = [`${SHOP}:8443`, `${SHOP}.stranger.example`, 'null', ''];
const PREFLIGHT = { 'access-control-request-method': 'POST' };

function corsFields(response: ReceivedResponse): Record<string, string> {
  return Object.fromEntries(response.fields.filter(([name]) => name.startsWith('access-control-')));
}

function preflight(origin: string, parts: Parts = {}): Buffer {
  const none = { authorization: undefined, 'content-type': undefined };
  const headers = { ...none, origin, ...PREFLIGHT, ...parts.headers };
  return request({ method: 'OPTIONS', target: '/plants', ...parts, headers });
}

describe('Pages of other origins, with CORS_ALLOWED_ORIGINS', () => {
  const service = useSharedService(OTHER_SETTINGS);

  async function preflightResponse(bytes: Buffer): Promise<ReceivedResponse> {
    using connection = await RawConnection.open(service.port);
    connection.send(bytes);
    const response = await connection.response();
    await expectService(connection);
    return response;
  }

  describe('A preflight without a token is allowed, with the headers that the service reads,', () => {
    for (const origin of [SHOP, DEVELOPMENT]) {
      it(`for ${origin}`, async () => {
        const headers = { 'x-request-id': 'preflight-1' };
        const response = await preflightResponse(preflight(origin, { headers }));
        expect([response.status, response.body.length]).to.deep.equal([204, 0]);
        expect(corsFields(response)).to.deep.equal({
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers':
            'authorization,content-type,x-request-id,traceparent,tracestate',
          'access-control-max-age': '7200',
        });
        expect(fieldValues(response, 'vary')).to.deep.equal(['Origin']);
        expect(fieldValues(response, 'x-request-id')).to.deep.equal(['preflight-1']);
      });
    }
  });

  describe('A page of an allowed origin can read the response', () => {
    const headers = { origin: SHOP };
    const cases: Case[] = [
      creating('a 200', { headers }),
      creating('a 4005', { headers, body: '{}' }, 4005),
      creating('a 4010', { headers: { ...headers, authorization: undefined } }, 4010),
      creating('a 4040', { headers, target: '/x' }, { error: 4040, toOperation: false }),
      asking('a 4050', { headers, method: UNSERVED }, { error: 4050, allow: SERVED }),
    ];
    for (const { title, bytes, expected } of cases) {
      it(title, async () => {
        const response = await exchange(service.port, bytes, expected);
        expect(corsFields(response)).to.deep.equal({
          'access-control-allow-origin': SHOP,
          'access-control-expose-headers': 'X-Request-Id,WWW-Authenticate,Retry-After,Allow',
        });
        expect(fieldValues(response, 'vary')).to.deep.equal(['Origin']);
      });
    }
  });

  describe('No headers are sent for another origin:', () => {
    for (const origin of STRANGERS) {
      it(`${JSON.stringify(origin)}, whose preflight is a 4050`, async () => {
        for (const [bytes, expected] of [
          [preflight(origin), { error: 4050, allow: SERVED }],
          [create({ headers: { origin } }), {}],
        ] as const) {
          const response = await exchange(service.port, bytes, expected);
          expect(corsFields(response)).to.deep.equal({});
          expect(fieldValues(response, 'vary')).to.deep.equal(['Origin']);
        }
      });
    }
    it('a request with two origins has a response without CORS headers', async () => {
      const bytes = create({ headers: { origin: [SHOP, DEVELOPMENT] } });
      expect(corsFields(await exchange(service.port, bytes, {}))).to.deep.equal({});
    });
  });

  testEach(service, [
    asking(
      'an OPTIONS that is not a preflight is a 4050',
      { method: 'OPTIONS', target: '/plants', headers: { origin: SHOP } },
      { error: 4050, allow: SERVED },
    ),
    asking('OPTIONS * is a 4040', { method: 'OPTIONS', target: '*' }, 4040),
  ]);

  it('a request that is not valid HTTP has a response without CORS headers', async () => {
    const bytes = lines('POST /plants HTTP/1.1', `Origin: ${SHOP}`);
    const response = await exchange(service.port, bytes, 4000);
    expect(corsFields(response)).to.deep.equal({});
  });
});

describe('Pages of other origins, without CORS_ALLOWED_ORIGINS', () => {
  const service = useSharedService();

  it('get no CORS headers, and no `Vary`', async () => {
    for (const [bytes, expected] of [
      [create({ headers: { origin: SHOP } }), {}],
      [preflight(SHOP), { error: 4050 }],
    ] as const) {
      const response = await exchange(service.port, bytes, expected);
      expect(corsFields(response)).to.deep.equal({});
      expect(fieldValues(response, 'vary')).to.deep.equal([]);
    }
  });
});
