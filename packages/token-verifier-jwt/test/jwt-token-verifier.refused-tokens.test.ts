import { rejects } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { InvalidTokenError, type InvalidTokenReason } from '@plant-store/domain';
import { expect } from 'chai';
import { CompactSign, exportSPKI, importJWK, type JWK } from 'jose';
import { FakeIssuer, type IssuerKey, issuerKey } from './support/fake-issuer.js';

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('JwtTokenVerifier', () => {
  let key: IssuerKey;
  let forgerKey: IssuerKey;
  let issuer: FakeIssuer;

  before(async () => {
    key = await issuerKey('first', 'RS256');
    forgerKey = await issuerKey('first', 'RS256');
  });

  beforeEach(async () => {
    issuer = await FakeIssuer.start(key);
  });

  afterEach(() => issuer.close());

  async function refuses(
    token: string,
    message?: string,
    reason?: InvalidTokenReason,
  ): Promise<void> {
    const verifier = issuer.verifier();
    await verifier.verify(await issuer.token());
    const error: unknown = await verifier.verify(token).catch((refusal: unknown) => refusal);
    expect(error).to.be.instanceOf(InvalidTokenError);
    if (message !== undefined) expect(error).to.include({ message });
    if (reason !== undefined) expect(error).to.include({ reason });
  }

  async function hmacWith(secret: string | Buffer, alg: string): Promise<string> {
    const signed = `${base64url({ alg, kid: 'first', typ: 'at+jwt' })}.${base64url(issuer.claims())}`;
    const hash = `sha${alg.slice(2)}`;
    return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
  }

  describe('A token is refused', () => {
    it('without a signature', async () => {
      for (const alg of ['none', 'nOnE', '']) {
        const unsigned = `${base64url({ alg, kid: 'first' })}.${base64url(issuer.claims())}`;
        await refuses(`${unsigned}.`);
        await refuses(`${unsigned}.c2lnbmF0dXJl`, 'the algorithm is not accepted');
      }
    });

    it('with HMAC and the public key as its secret', async () => {
      const publicKey = await importJWK(key.published, 'RS256', { extractable: true });
      if (publicKey instanceof Uint8Array) throw new Error('not a public key');
      const modulus = Buffer.from(`${key.published.n}`, 'base64url');
      for (const secret of [await exportSPKI(publicKey), modulus, '']) {
        await refuses(await hmacWith(secret, 'HS256'), 'the algorithm is not accepted');
      }
    });

    it('with an algorithm that its key supports but the options do not list', async () => {
      const { alg: _, ...published } = key.published;
      issuer.keys = [{ ...key, published }];
      const verifier = issuer.verifier({ algorithms: ['PS256'] });
      const token = await issuer.token({}, { alg: 'RS256' });
      await rejects(verifier.verify(token), { reason: 'algorithm' });
    });

    const claims: Record<string, [claims: Record<string, unknown>, reason: InvalidTokenReason]> = {
      'from another issuer': [{ iss: 'https://issuer.example' }, 'issuer'],
      'without an issuer': [{ iss: undefined }, 'issuer'],
      'for another audience': [{ aud: 'https://animals.example' }, 'audience'],
      'for several other audiences': [{ aud: ['https://animals.example', 'plants'] }, 'audience'],
      'without an audience': [{ aud: undefined }, 'audience'],
      'without an expiry': [{ exp: undefined }, 'malformed'],
      'with an expiry that is not a number': [{ exp: '4102444800' }, 'malformed'],
      'with a beginning that is not a number': [{ nbf: '0' }, 'not yet valid'],
    };

    for (const [what, [changed, reason]] of Object.entries(claims)) {
      it(what, async () => refuses(await issuer.token(changed), undefined, reason));
    }

    it('when it has expired more than 30 seconds ago', async () => {
      await refuses(
        await issuer.token({ exp: issuer.seconds - 30 }),
        'the token has expired',
        'expired',
      );
    });

    it('when it is not yet valid for more than 30 seconds', async () => {
      await refuses(
        await issuer.token({ nbf: issuer.seconds + 31 }),
        'the claim nbf is not as it must be',
        'not yet valid',
      );
    });

    it('with another type', async () => {
      for (const typ of ['logout+jwt', 'application/jwt; a=b', '', 7, ['at+jwt']]) {
        const message = 'the type is not that of access tokens';
        await refuses(await issuer.token({}, { typ }), message, 'not an access token');
      }
    });

    const uses: Record<string, Record<string, unknown>> = {
      'an ID token of Keycloak': { typ: 'ID' },
      'an ID token of Cognito': { token_use: 'id' },
      'an ID token with the hash of an access token': { at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' },
      'an ID token with the hash of a code': { c_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' },
    };

    for (const [what, use] of Object.entries(uses)) {
      it(`as ${what}`, async () => {
        await refuses(await issuer.token(use, { typ: 'JWT' }), 'the token is not an access token');
      });
    }

    it('when it is bound to a key of the client', async () => {
      await refuses(await issuer.token({ cnf: { jkt: 'a' } }), 'the token is bound to a key');
    });

    it('with critical extensions, also one that jose supports', async () => {
      const message = 'the header has critical extensions';
      await refuses(await issuer.token({}, { crit: ['b64'], b64: true }), message);
      const header = { alg: 'RS256', kid: 'first', crit: ['exp'], exp: 1 };
      await refuses(`${base64url(header)}.${base64url(issuer.claims())}.c2lnbmF0dXJl`, message);
    });

    it('when it names a known key but was signed with another', async () => {
      const forged = await issuer.token({}, {}, forgerKey);
      await refuses(forged, 'the signature does not match', 'signature');
    });

    it('when it names a key of another kind', async () => {
      const forged = await issuer.token({}, {}, await issuerKey('first', 'ES256'));
      await refuses(forged, 'no key of the issuer fits');
    });

    it('with a key name that is not a string', async () => {
      await refuses(await issuer.token({}, { kid: 7 }), 'the token is malformed');
    });

    const contents = { 'no JSON': 'plants', 'a list': '[]', null: 'null', 'no UTF-8': '\xFF' };

    for (const [what, content] of Object.entries(contents)) {
      it(`when its header is ${what}`, async () => {
        const [, ...rest] = (await issuer.token()).split('.');
        const header = Buffer.from(content, 'latin1').toString('base64url');
        await refuses([header, ...rest].join('.'), 'the token is malformed', 'malformed');
      });

      it(`when its claims are ${what}, even with a valid signature`, async () => {
        const signing = new CompactSign(Buffer.from(content, 'latin1'));
        signing.setProtectedHeader({ alg: 'RS256', kid: 'first' });
        await refuses(await signing.sign(key.privateKey), 'the token is malformed', 'malformed');
      });
    }

    it('when it is encrypted, or of another form', async () => {
      const token = await issuer.token();
      for (const other of [`${token}.a.b`, token.replace('.', '..'), `${token}=`, `${token}+/`]) {
        await refuses(other, 'the token is malformed');
      }
    });
  });

  describe('A token that brings its own key', () => {
    type Header = (forger: FakeIssuer, jwk: JWK) => Record<string, unknown>;
    const headers: Readonly<Record<string, Header>> = {
      'jku and an unknown key name': ({ url }) => ({ jku: `${url}/jwks`, kid: 'forged' }),
      x5u: ({ url }) => ({ x5u: `${url}/jwks` }),
      'jwk and without a key name': (_, jwk) => ({ jwk, kid: undefined }),
      x5c: (_, { n }) => ({ x5c: [n] }),
    };
    for (const [what, header] of Object.entries(headers)) {
      it(`is refused with ${what}, and no request is made`, async () => {
        const forger = await FakeIssuer.start(forgerKey);
        try {
          await refuses(await issuer.token({}, header(forger, forgerKey.published), forgerKey));
          expect(forger.requests).to.deep.equal([]);
        } finally {
          await forger.close();
        }
      });
    }
  });
});
