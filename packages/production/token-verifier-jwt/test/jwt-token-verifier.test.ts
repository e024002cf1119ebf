import { rejects } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mocha } from '@plant-store/contract-suite/mocha';
import { type Client, InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { describeTokenVerifier, type OpenVerifier } from '@plant-store/token-verifier-contract';
import { expect } from 'chai';
import { CompactSign, exportSPKI, importJWK, type JWK } from 'jose';
import { VerifiedClients } from '../src/issuer-keys.js';
import { type FakeIssuer, type IssuerKey, issuerKey, startEach } from './support/fake-issuer.js';

const HOURS_IN_SECONDS = 3_600;

describe('JwtTokenVerifier', () => {
  let issuer: FakeIssuer;

  startEach((started) => (issuer = started));

  /** Opens a verifier whose issuer can fail; each fault lasts `lasting` milliseconds on the verifier's clock. */
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

  describeTokenVerifier(mocha, 'with expired keys', () => open(2 * HOURS_IN_SECONDS * 1000));

  describeTokenVerifier(mocha, 'with trusted keys', () => open(0));

  describe('given a signed token', () => {
    const both = { client_id: 'shop', azp: 'party' };
    const named: [claims: Record<string, unknown>, name: string][] = [
      [{ sub: 'gardener', ...both }, 'gardener'],
      [{ sub: undefined, ...both }, 'shop'],
      [{ sub: '', client_id: 7, azp: null }, 'unnamed client'],
      [{ sub: 'a\nb\u001B[2J\u202Eö' }, 'a?b?[2J??'],
      [{ sub: 'a'.repeat(2000) }, 'a'.repeat(128)],
    ];

    for (const [claims, name] of named) {
      it(`names the client ${name.slice(0, 20)} with ${JSON.stringify(claims).slice(0, 60)}`, async () => {
        const client = await issuer.verifier().verify(await issuer.token(claims));
        expect(client.name).to.equal(name);
      });
    }

    it('names the client by the configured claim, if the token has it', async () => {
      const verifier = issuer.verifier({ nameClaim: 'azp' });
      const named = async (azp: unknown) =>
        (await verifier.verify(await issuer.token({ azp }))).name;
      expect([await named('party'), await named(7)]).to.deep.equal(['party', 'gardener']);
    });

    const permitted: [claims: Record<string, unknown>, permitted: boolean][] = [
      [{ scope: null, scp: 7, roles: {}, permissions: 'plants:create' }, true],
      [{ scope: 'plants:created plants' }, false],
      [{ scp: ['plants:create openid'] }, false],
      [{ permissions: [['plants:create'], { name: 'plants:create' }] }, false],
      [{ realm_access: { roles: ['plants:create'] }, groups: ['plants:create'] }, false],
    ];

    for (const [claims, expected] of permitted) {
      it(`permits ${expected ? 'creates' : 'no create'} with ${JSON.stringify(claims)}`, async () => {
        const verifier = issuer.verifier({ scopes: { 'create plants': 'plants:create' } });
        const client = await verifier.verify(await issuer.token(claims));
        expect(client.permissions.has('create plants')).to.equal(expected);
      });
    }

    it('permits creates and reads if no scope is configured', async () => {
      const client = await issuer.verifier().verify(await issuer.token());
      expect([...client.permissions]).to.deep.equal(['create plants', 'read plants']);
    });
  });

  describe('accepts a token', () => {
    for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
      it(`signed with ${alg}`, async () => {
        const key = await issuerKey('another', alg);
        issuer.keys = [key];
        await issuer.verifier().verify(await issuer.token({}, {}, key));
      });
    }

    for (const typ of ['at+jwt', 'application/at+jwt', 'AT+JWT', 'JWT', undefined]) {
      it(typ ? `of the type ${typ}` : 'without a type', async () => {
        await issuer.verifier().verify(await issuer.token({}, { typ }));
      });
    }

    it('for several audiences, and 30 seconds before `nbf` or after `exp`', async () => {
      const aud = ['https://animals.example', issuer.claims().aud];
      const [nbf, exp] = [issuer.seconds + 30, issuer.seconds - 29];
      for (const claims of [{ aud }, { nbf }, { exp }])
        await issuer.verifier().verify(await issuer.token(claims));
    });
  });

  describe('given a token without an audience', () => {
    const audience = 'client-1';
    const other = 'client-2';
    const cases: [claims: object, accepted: boolean][] = [
      [{ aud: [], azp: audience }, true],
      [{}, false],
      [{ sub: audience, cid: audience, appid: audience }, false],
      [{ client_id: other }, false],
      [{ client_id: other, azp: audience }, true],
      [{ client_id: [audience] }, false],
      // Even if our client holds the token.
      ...[other, [other], '', [''], null, {}, 7, [[audience]]].map((aud): [object, boolean] => [
        { aud, client_id: audience, azp: audience },
        false,
      ]),
    ];

    for (const [claims, accepted] of cases) {
      it(`${accepted ? 'accepts' : 'refuses'} ${JSON.stringify(claims)}`, async () => {
        const token = await issuer.token({ aud: undefined, ...claims });
        const verifying = issuer.verifier({ audience }).verify(token);
        if (accepted) await verifying;
        else await rejects(verifying, { message: 'the token is for another audience' });
      });
    }
  });

  describe('given the keys of an issuer', () => {
    it('tries keys without a `kid` last, and fetches them again if none matches', async () => {
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

    it('trusts them for an hour of uptime, even if clocks go back', async () => {
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

    it('refuses no token that it is verifying while it closes', async () => {
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

  describe('after verifying a token', () => {
    /** Returns a verifier, and for each token whether its client was cached. */
    function recording() {
      const cached: boolean[] = [];
      const verifier = issuer.verifier({
        observer: (event) => {
          if (event.type === 'token checked') cached.push(event.cached);
        },
      });
      return { verifier, cached };
    }

    it('caches it until it expires, and accepts it for 30 seconds more', async () => {
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
      await rejects(verifier.verify(token), { message: 'the token has expired' });
      await rejects(verifier.verify(token), { message: 'the token has expired' });
      expect(cached).to.deep.equal([false, true, false, false, false, false]);
    });

    it('forgets it after 10,000 others', () => {
      const verified = new VerifiedClients();
      const client: Client = { name: 'gardener', permissions: new Set() };
      for (let index = 0; index <= 10_000; index += 1)
        verified.set(`${index}`, { client, until: 1 });
      expect([verified.has('0'), verified.has('1')]).to.deep.equal([false, true]);
    });

    it('forgets it when its key is withdrawn, even during the verification', async () => {
      const { verifier } = recording();
      const token = await issuer.token();
      await verifier.ready();
      const { subtle } = globalThis.crypto;
      const { verify } = subtle;
      let release = () => {};
      const withdrawn = new Promise<void>((resolve) => (release = resolve));
      const begun = new Promise<void>((resolve) => {
        subtle.verify = async (...args) => {
          resolve();
          await withdrawn;
          return verify.apply(subtle, args);
        };
      });
      const verifying = verifier.verify(token);
      await begun;
      Reflect.deleteProperty(subtle, 'verify');
      issuer.keys = [await issuerKey('second')];
      issuer.now += 1_000;
      await rejects(verifier.verify(await issuer.token({}, { kid: 'other' })), InvalidTokenError);
      release();
      await verifying;
      issuer.now += 1_000;
      await rejects(verifier.verify(token), { message: "none of the issuer's keys matches" });
    });

    it('forgets it when the keys change, but not when they are fetched unchanged', async () => {
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

type Part = Record<string, unknown>;

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('A token is refused', () => {
  let forgerKey: IssuerKey;
  let issuer: FakeIssuer;

  before(async () => {
    forgerKey = await issuerKey('first', 'RS256');
  });

  startEach((started) => (issuer = started), 'RS256');

  /** Resolves when a verifier that has accepted another token refuses this one. */
  async function refuses(token: string, message?: string) {
    const verifier = issuer.verifier();
    await verifier.verify(await issuer.token());
    const error: unknown = await verifier.verify(token).catch((refusal: unknown) => refusal);
    expect(error).to.be.instanceOf(InvalidTokenError);
    if (message !== undefined) expect(error).to.include({ message });
  }

  const MALFORMED = 'the token is malformed';
  const ALGORITHM = 'the algorithm is not accepted';
  const TYPE = 'the token type is not an access token type';
  const USE = 'the token is not an access token';
  const BOUND = 'the token is bound to a key';
  const EXPIRED = 'the token has expired';
  const AUDIENCE = 'the token is for another audience';
  const claim = (name: string) => `the claim ${name} is invalid`;
  const EARLY = claim('nbf');
  const CRITICAL = 'the header contains critical extensions';

  /** The claims, the header, and why the token is refused. */
  type Refused = [claims: Part | ((seconds: number) => Part), header: Part, message: string];
  const refused: Readonly<Record<string, Refused>> = {
    'from another issuer': [{ iss: 'https://issuer.example' }, {}, claim('iss')],
    'for several other audiences': [{ aud: ['animals', 'plants'] }, {}, AUDIENCE],
    'without an expiry': [{ exp: undefined }, {}, claim('exp')],
    'whose `nbf` is not a number': [{ nbf: '0' }, {}, EARLY],
    'that has expired more than 30 seconds ago': [(now) => ({ exp: now - 30 }), {}, EXPIRED],
    'whose `nbf` is more than 30 seconds ahead': [(now) => ({ nbf: now + 31 }), {}, EARLY],
    'of another type': [{}, { typ: 'logout+jwt' }, TYPE],
    'of a type that is not a string': [{}, { typ: ['at+jwt'] }, TYPE],
    'that is an ID token of Keycloak': [{ typ: 'ID' }, { typ: 'JWT' }, USE],
    'that is an ID token of Cognito': [{ token_use: 'id' }, { typ: 'JWT' }, USE],
    'that is an ID token with the hash of an access token': [{ at_hash: 'MTIz' }, {}, USE],
    'that is an ID token with the hash of a code': [{ c_hash: 'MTIz' }, {}, USE],
    'that is bound to a key of the client': [{ cnf: { jkt: 'a' } }, {}, BOUND],
    'with critical extensions, even of jose': [{}, { crit: ['b64'], b64: true }, CRITICAL],
    'with a key name that is not a string': [{}, { kid: 7 }, MALFORMED],
  };

  for (const [what, [claims, header, message]] of Object.entries(refused)) {
    it(what, async () => {
      const changed = typeof claims === 'function' ? claims(issuer.seconds) : claims;
      await refuses(await issuer.token(changed, header), message);
    });
  }

  it('without a signature', async () => {
    for (const alg of ['none', 'nOnE', '']) {
      const unsigned = `${base64url({ alg, kid: 'first' })}.${base64url(issuer.claims())}`;
      await refuses(`${unsigned}.`);
      await refuses(`${unsigned}.c2lnbmF0dXJl`, ALGORITHM);
    }
  });

  it('with HMAC and the public key as its secret', async () => {
    const publicKey = await importJWK(issuer.key.published, 'RS256', { extractable: true });
    if (publicKey instanceof Uint8Array) throw new Error('not a public key');
    const modulus = Buffer.from(`${issuer.key.published.n}`, 'base64url');
    const header = base64url({ alg: 'HS256', kid: 'first', typ: 'at+jwt' });
    const signed = `${header}.${base64url(issuer.claims())}`;
    for (const secret of [await exportSPKI(publicKey), modulus, '']) {
      const signature = createHmac('sha256', secret).update(signed).digest('base64url');
      await refuses(`${signed}.${signature}`, ALGORITHM);
    }
  });

  it('with an algorithm that its key supports but the options leave out', async () => {
    const { alg: _, ...published } = issuer.key.published;
    issuer.keys = [{ ...issuer.key, published }];
    const verifier = issuer.verifier({ algorithms: ['PS256'] });
    const token = await issuer.token({}, { alg: 'RS256' });
    await rejects(verifier.verify(token), { message: ALGORITHM });
  });

  it('that names a known key but is signed with another, of any kind', async () => {
    const forged = await issuer.token({}, {}, forgerKey);
    await refuses(forged, 'the signature does not match');
    const ofAnotherKind = await issuer.token({}, {}, await issuerKey('first', 'ES256'));
    await refuses(ofAnotherKind, "none of the issuer's keys matches");
  });

  const contents = { 'not JSON': 'plants', 'a list': '[]', null: 'null', 'not UTF-8': '\xFF' };

  for (const [what, content] of Object.entries(contents)) {
    it(`whose header or claims are ${what}, even with a valid signature`, async () => {
      const bytes = Buffer.from(content, 'latin1');
      const [, ...rest] = (await issuer.token()).split('.');
      await refuses([bytes.toString('base64url'), ...rest].join('.'), MALFORMED);
      const signing = new CompactSign(bytes).setProtectedHeader({ alg: 'RS256', kid: 'first' });
      await refuses(await signing.sign(issuer.key.privateKey), MALFORMED);
    });
  }

  it('that is encrypted, or not in the format of a signed token', async () => {
    const token = await issuer.token();
    for (const other of [`${token}.a.b`, token.replace('.', '..'), `${token}=`, `${token}+/`]) {
      await refuses(other, MALFORMED);
    }
  });

  const headers: Readonly<Record<string, (url: string, jwk: JWK) => Part>> = {
    '`jku` with an unknown `kid`': (jku) => ({ jku, kid: 'forged' }),
    '`x5u`': (x5u) => ({ x5u }),
    '`jwk` without a `kid`': (_, jwk) => ({ jwk, kid: undefined }),
    '`x5c`': (_, { n }) => ({ x5c: [n] }),
  };
  for (const [what, header] of Object.entries(headers)) {
    it(`that brings a key in ${what}, without fetching it`, async () => {
      const { published } = forgerKey;
      issuer.publish('/forged', { keys: [published] });
      await refuses(await issuer.token({}, header(`${issuer.url}/forged`, published), forgerKey));
      expect(issuer.requests).to.not.contain('/forged');
    });
  }
});
