import { rejects } from 'node:assert/strict';
import { mocha } from '@plant-store/contract-suite/mocha';
import {
  authenticatedClient,
  InvalidTokenError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { describeTokenVerifier, type OpenVerifier } from '@plant-store/token-verifier-contract';
import { expect } from 'chai';
import { VerifiedClients } from '../src/issuer-keys.js';
import { type FakeIssuer, type IssuerKey, issuerKey, startEach } from './support/fake-issuer.js';

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

  describe('A key of an issuer', () => {
    it('without a name is tried after others, and picked up with the first token that no other one verifies', async () => {
      const nameless = () => issuerKey(undefined);
      const [first, other, next] = [await nameless(), await nameless(), await nameless()];
      issuer.keys = [first, other];
      const verifier = issuer.verifier();
      const verify = async (key: IssuerKey) => verifier.verify(await issuer.token({}, {}, key));
      await verify(first);
      await verify(other);
      await rejects(verify(next), InvalidTokenError);
      issuer.keys = [next];
      issuer.now += 1_000;
      await verify(next);
    });

    it('is trusted for an hour of uptime, although the clock is set back', async () => {
      const verifier = issuer.verifier({ now: undefined });
      const token = await issuer.token();
      await verifier.verify(token);
      await issuer.stop();
      const { now } = Date;
      const uptime = performance.now;
      Object.assign(Date, { now: () => now() - 30 * 60_000 });
      performance.now = () => uptime.call(performance) + 60 * 60_000;
      await rejects(verifier.verify(token), TokenVerifierUnavailableError).finally(() => {
        Object.assign(Date, { now });
        performance.now = uptime;
      });
    });

    it('does not refuse a token that is being verified when the verifier is closed', async () => {
      const verifier = issuer.verifier();
      await verifier.ready();
      const token = await issuer.token({}, { kid: 'unknown' });
      const asked = new Promise<void>((resolve) => issuer.handlers.set('/jwks', () => resolve()));
      const closed = new TokenVerifierUnavailableError('the token verifier is closed');
      const check = rejects(verifier.verify(token), closed);
      await asked;
      await Promise.all([check, verifier.close()]);
    });
  });

  describe('A verified token', () => {
    /** Returns a verifier, and whether the client of each token was cached. */
    function recording() {
      const cached: boolean[] = [];
      const verifier = issuer.verifier({
        observer: (event) => {
          if (event.type === 'token checked') cached.push(event.cached);
        },
      });
      return { verifier, cached };
    }

    it('is cached until its expiry, although it is accepted for 30 seconds more', async () => {
      const { verifier, cached } = recording();
      await verifier.ready();
      const token = await issuer.token({ exp: issuer.seconds + 60 });
      const client = await verifier.verify(token);
      issuer.now = (issuer.seconds + 60) * 1000 - 1;
      expect(await verifier.verify(token)).to.equal(client);
      issuer.now += 1;
      await verifier.verify(token);
      await verifier.verify(token);
      issuer.now += 30_000;
      await rejects(verifier.verify(token), { reason: 'expired' });
      await rejects(verifier.verify(token), { reason: 'expired' });
      expect(cached).to.deep.equal([false, true, false, false, false, false]);
    });

    it('is dropped from the cache when 10,000 were verified after it', () => {
      const verified = new VerifiedClients();
      const client = authenticatedClient('gardener', []);
      for (let index = 0; index <= 10_000; index += 1)
        verified.set(`${index}`, { client, until: 1 });
      expect([verified.has('0'), verified.has('1')]).to.deep.equal([false, true]);
    });

    it('is dropped from the cache when the keys change, and only then', async () => {
      const { verifier, cached } = recording();
      const token = await issuer.token();
      const fetchAgain = async () => {
        issuer.now += 1_000;
        await rejects(verifier.verify(await issuer.token({}, { kid: 'other' })), InvalidTokenError);
      };
      await verifier.ready();
      await verifier.verify(token);
      await fetchAgain();
      await verifier.verify(token);
      issuer.keys = [issuer.key, await issuerKey('second')];
      await fetchAgain();
      await verifier.verify(token);
      await verifier.verify(token);
      expect(cached).to.deep.equal([false, false, true, false, false, true]);
    });
  });
});
