import { expect } from 'chai';
import { asking, type Case, creating, exchange, groups } from '../support/cases.js';
import { fieldValues, RawConnection, type ReceivedResponse } from '../support/raw-connection.js';
import { create, lines, type Parts, request, SERVED, UNSERVED } from '../support/requests.js';
import { ORIGINS, OTHER_SETTINGS, useSharedService } from '../support/service.js';

const [SHOP, DEVELOPMENT] = ORIGINS;
const STRANGERS = [`${SHOP}:8443`, `${SHOP}.stranger.example`, 'null', ''];
const REFUSED = { error: 4050, allow: SERVED };
const VARY = 'vary: Origin';

/** Checks the fields that browsers and caches use for pages of other origins: exactly these lines. */
function expectCors({ fields }: ReceivedResponse, ...lines: string[]): void {
  const found = fields.filter(([name]) => name === 'vary' || name.startsWith('access-control-'));
  expect(found.map(([name, value]) => `${name}: ${value}`)).to.have.members(lines);
}

function preflight(origin: string, more: Parts['headers'] = {}): Buffer {
  const none = { authorization: undefined, 'content-type': undefined };
  const headers = { ...none, origin, 'access-control-request-method': 'POST', ...more };
  return request({ method: 'OPTIONS', target: '/plants', headers });
}

/** Headers that tracers, SDKs and browsers add, and one of a page of its own. */
const ADDED =
  'b3,baggage,cache-control,idempotency-key,newrelic,traceparent,user-agent,x-nursery-branch,x-requested-with';

describe('Pages of other origins, with CORS_ALLOWED_ORIGINS', () => {
  const service = useSharedService(OTHER_SETTINGS);

  it('A preflight allows every header that tracers and SDKs add', async () => {
    const asked = `authorization,content-type,${ADDED}`;
    using connection = await RawConnection.open(service().port);
    connection.send(preflight(SHOP, { 'access-control-request-headers': asked }));
    const allowed = fieldValues(await connection.response(), 'access-control-allow-headers');
    // A `*` would not cover `authorization`.
    expect(allowed).to.deep.equal([asked]);
  });

  for (const origin of ORIGINS) {
    it(`A preflight without a token is allowed for ${origin}`, async () => {
      using connection = await RawConnection.open(service().port);
      connection.send(preflight(origin));
      const response = await connection.response();
      expect([response.status, response.body.length]).to.deep.equal([204, 0]);
      expectCors(
        response,
        VARY,
        `access-control-allow-origin: ${origin}`,
        'access-control-allow-credentials: true',
        'access-control-allow-methods: POST',
        'access-control-max-age: 7200',
      );
    });
  }

  describe('A page of an allowed origin can read', () => {
    const headers = { origin: SHOP };
    const cases: Case[] = [
      creating('a 200', { headers }),
      creating('a 4005', { headers, body: '{}' }, 4005),
      creating('a 4010', { headers: { ...headers, authorization: undefined } }, 4010),
      creating('a 4040', { headers, target: '/x' }, { error: 4040, toOperation: false }),
      asking('a 4050', { headers, method: UNSERVED, target: '/plants' }, REFUSED),
    ];
    for (const { title, bytes, expected } of cases) {
      it(title, async () => {
        expectCors(
          await exchange(service().port, bytes, expected),
          VARY,
          `access-control-allow-origin: ${SHOP}`,
          'access-control-allow-credentials: true',
          'access-control-expose-headers: X-Request-Id,WWW-Authenticate,Retry-After,Allow',
        );
      });
    }
  });

  for (const origin of STRANGERS) {
    it(`Another origin gets no CORS headers, and a 4050 for its preflight: ${JSON.stringify(origin)}`, async () => {
      expectCors(await exchange(service().port, preflight(origin), REFUSED), VARY);
      expectCors(await exchange(service().port, create({ headers: { origin } })), VARY);
    });
  }

  const options = { method: 'OPTIONS', target: '/plants', headers: { origin: SHOP } };
  groups(service)(
    'Without the headers of a preflight, the usual error is returned for',
    asking('an OPTIONS without Access-Control-Request-Method', options, REFUSED),
    asking('OPTIONS *', { method: 'OPTIONS', target: '*' }, 4040),
  );

  it('Two origins, or invalid HTTP, get a response without CORS headers', async () => {
    const two = create({ headers: { origin: [SHOP, DEVELOPMENT] } });
    expectCors(await exchange(service().port, two), VARY);
    const invalid = lines('POST /plants HTTP/1.1', `Origin: ${SHOP}`);
    expectCors(await exchange(service().port, invalid, 4000));
  });
});

describe('Pages of other origins, without CORS_ALLOWED_ORIGINS', () => {
  const service = useSharedService();

  it('get no CORS headers, and no `Vary`', async () => {
    expectCors(await exchange(service().port, preflight(SHOP), 4050));
    expectCors(await exchange(service().port, create({ headers: { origin: SHOP } })));
  });
});
