import { mocha } from '@plant-store/contract-suite/mocha';
import { describeTokenVerifier, type OpenVerifier } from '@plant-store/token-verifier-contract';
import { expect } from 'chai';
import { type FakeIssuer, issuerKey, startEach } from './support/fake-issuer.js';

const HOURS_IN_SECONDS = 3_600;

describe('JwtTokenVerifier', () => {
  let issuer: FakeIssuer;

  startEach((started) => (issuer = started));

  /** A verifier, and faults of its issuer, each of which lasts `lasting` milliseconds on the verifier's clock. */
  async function open(lasting: number): Promise<OpenVerifier> {
    const exp = issuer.seconds + 10 * HOURS_IN_SECONDS;
    const scopes = { 'create plants': 'plants:create', 'read plants': 'plants:read' };
    const verifier = issuer.verifier({ scopes });
    const failing = (fail: () => unknown) => async () => {
      await verifier.ready();
      await fail();
      issuer.now += lasting;
    };
    return {
      verifier,
      accepted: [
        {
          token: await issuer.token({ sub: 'gardener', scope: 'openid plants:create', exp }),
          name: 'gardener',
          permissions: ['create plants'],
        },
        { token: await issuer.token({ sub: 'visitor', exp }), name: 'visitor', permissions: [] },
      ],
      refused: {
        'an expired token': await issuer.token({ exp: issuer.seconds - 31 }),
        'a token for another service': await issuer.token({ aud: 'https://animals.example' }),
        'a token of an unknown key': await issuer.token({}, {}, await issuerKey('other')),
        'a token with a forged signature': await issuer.token({}, {}, await issuerKey('first')),
      },
      outage: failing(() => issuer.stop()),
      stall: failing(() => issuer.handlers.set('/jwks', () => {})),
      malfunction: failing(() =>
        issuer.handlers.set('/jwks', (request, response) => response.end(`${request.url}: a page`)),
      ),
      async recover() {
        issuer.handlers.clear();
        await issuer.stop();
        await issuer.listen();
        issuer.now += 10_000;
      },
    };
  }

  describeTokenVerifier(mocha, 'JwtTokenVerifier with keys that are no longer trusted', () =>
    open(2 * HOURS_IN_SECONDS * 1000),
  );

  describeTokenVerifier(mocha, 'JwtTokenVerifier with keys that are trusted', () => open(0));

  describe('The client of a signed token', () => {
    const both = { client_id: 'shop', azp: 'party' };
    const named: [claims: Record<string, unknown>, name: string][] = [
      [{ sub: 'gardener', ...both }, 'gardener'],
      [{ sub: undefined, ...both }, 'shop'],
      [{ sub: ' ', azp: 'party' }, 'party'],
      [{ sub: '', client_id: 7, azp: null }, 'unnamed client'],
      [{ sub: 'a\nb\u001B[2J\u202Eö' }, 'a?b?[2J??'],
      [{ sub: 'a'.repeat(2000) }, 'a'.repeat(128)],
    ];

    for (const [claims, name] of named) {
      it(`is named ${name.slice(0, 20)} with ${JSON.stringify(claims).slice(0, 60)}`, async () => {
        const client = await issuer.verifier().verify(await issuer.token(claims));
        expect(client.name).to.equal(name);
      });
    }

    it('is named by the claim that is configured, if the token has it', async () => {
      const verifier = issuer.verifier({ nameClaim: 'azp' });
      const named = async (azp: unknown) =>
        (await verifier.verify(await issuer.token({ azp }))).name;
      expect([await named('party'), await named(7)]).to.deep.equal(['party', 'gardener']);
    });

    const permitted: [claims: Record<string, unknown>, permitted: boolean][] = [
      [{ scope: 'plants:create' }, true],
      [{ scope: 'openid plants:create email' }, true],
      [{ scp: 'openid plants:create' }, true],
      [{ scp: ['openid', 'plants:create'] }, true],
      [{ scope: 'openid', scp: ['plants:create'] }, true],
      [{}, false],
      [{ scope: '' }, false],
      [{ scope: 'plants:created plants' }, false],
      [{ scp: ['plants:create openid'] }, false],
      [{ scp: { 'plants:create': true } }, false],
      [{ roles: ['plants:create'] }, false],
    ];

    for (const [claims, expected] of permitted) {
      it(`may ${expected ? '' : 'not '}create plants with ${JSON.stringify(claims)}`, async () => {
        const verifier = issuer.verifier({ scopes: { 'create plants': 'plants:create' } });
        const client = await verifier.verify(await issuer.token(claims));
        expect(client.permissions.has('create plants')).to.equal(expected);
      });
    }

    it('may create and read plants with any valid token when no scope is configured', async () => {
      const client = await issuer.verifier().verify(await issuer.token());
      expect([...client.permissions]).to.deep.equal(['create plants', 'read plants']);
    });
  });

  describe('An accepted token', () => {
    for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
      it(`may be signed with ${alg}`, async () => {
        const key = await issuerKey('another', alg);
        issuer.keys = [key];
        await issuer.verifier().verify(await issuer.token({}, {}, key));
      });
    }

    for (const typ of ['at+jwt', 'application/at+jwt', 'AT+JWT', 'JWT', undefined]) {
      it(`may have the type ${typ}`, async () => {
        await issuer.verifier().verify(await issuer.token({}, { typ }));
      });
    }

    it('may be for several services, and used up to 30 seconds before `nbf` and after `exp`', async () => {
      const aud = ['https://animals.example', issuer.claims().aud];
      const [nbf, exp] = [issuer.seconds + 30, issuer.seconds - 29];
      for (const claims of [{ aud }, { nbf }, { exp }])
        await issuer.verifier().verify(await issuer.token(claims));
    });
  });
});
