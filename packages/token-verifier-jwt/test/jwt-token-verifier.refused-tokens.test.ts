import { rejects } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { InvalidTokenError, type InvalidTokenReason } from '@plant-store/domain';
import { expect } from 'chai';
import { CompactSign, exportSPKI, importJWK, type JWK } from 'jose';
import { type FakeIssuer, type IssuerKey, issuerKey, startEach } from './support/fake-issuer.js';

type Part = Record<string, unknown>;

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('A token is refused', () => {
  let forgerKey: IssuerKey;
  let issuer: FakeIssuer;

  before(async () => {
    forgerKey = await issuerKey('first', 'RS256');
  });

  startEach((started) => (issuer = started), 'RS256');

  /** Resolves when a verifier that has accepted another token refuses this one, which gets no part of its error. */
  async function refuses(token: string, message?: string, reason?: InvalidTokenReason) {
    const verifier = issuer.verifier();
    await verifier.verify(await issuer.token());
    const error: unknown = await verifier.verify(token).catch((refusal: unknown) => refusal);
    expect(error).to.be.instanceOf(InvalidTokenError);
    if (message !== undefined) expect(error).to.include({ message });
    if (reason !== undefined) expect(error).to.include({ reason });
  }

  const MALFORMED = ['the token is malformed', 'malformed'] as const;
  const ALGORITHM = ['the algorithm is not accepted', 'algorithm'] as const;
  const TYPE = ['the type is not that of access tokens', 'not an access token'] as const;
  const USE = ['the token is not an access token', 'not an access token'] as const;
  const BOUND = ['the token is bound to a key', 'not an access token'] as const;
  const EXPIRED = ['the token has expired', 'expired'] as const;
  const claim = (name: string) => `the claim ${name} is not as it must be`;
  const EARLY = [claim('nbf'), 'not yet valid'] as const;

  /** The claims, the header, and why the token is refused. */
  type Refused = readonly [
    claims: Part | ((seconds: number) => Part),
    header: Part,
    ...why: readonly [message: string, reason: InvalidTokenReason],
  ];
  const refused: Readonly<Record<string, Refused>> = {
    'from another issuer': [{ iss: 'https://issuer.example' }, {}, claim('iss'), 'issuer'],
    'without an issuer': [{ iss: undefined }, {}, claim('iss'), 'issuer'],
    'for another audience': [{ aud: 'https://animals.example' }, {}, claim('aud'), 'audience'],
    'for several other audiences': [{ aud: ['animals', 'plants'] }, {}, claim('aud'), 'audience'],
    'without an audience': [{ aud: undefined }, {}, claim('aud'), 'audience'],
    'without an expiry': [{ exp: undefined }, {}, claim('exp'), 'malformed'],
    'with an expiry that is not a number': [{ exp: '41' }, {}, claim('exp'), 'malformed'],
    'with a beginning that is not a number': [{ nbf: '0' }, {}, ...EARLY],
    'that has expired more than 30 seconds ago': [(now) => ({ exp: now - 30 }), {}, ...EXPIRED],
    'that is not yet valid for more than 30 seconds': [(now) => ({ nbf: now + 31 }), {}, ...EARLY],
    'of another type': [{}, { typ: 'logout+jwt' }, ...TYPE],
    'of a type with parameters': [{}, { typ: 'application/jwt; a=b' }, ...TYPE],
    'of an empty type': [{}, { typ: '' }, ...TYPE],
    'of a type that is no text': [{}, { typ: ['at+jwt'] }, ...TYPE],
    'that is an ID token of Keycloak': [{ typ: 'ID' }, { typ: 'JWT' }, ...USE],
    'that is an ID token of Cognito': [{ token_use: 'id' }, { typ: 'JWT' }, ...USE],
    'that is an ID token with the hash of an access token': [{ at_hash: 'MTIz' }, {}, ...USE],
    'that is an ID token with the hash of a code': [{ c_hash: 'MTIz' }, {}, ...USE],
    'that is bound to a key of the client': [{ cnf: { jkt: 'a' } }, {}, ...BOUND],
    'with critical extensions, also one that jose supports': [
      {},
      { crit: ['b64'], b64: true },
      'the header has critical extensions',
      'not an access token',
    ],
    'with a key name that is not a text': [{}, { kid: 7 }, ...MALFORMED],
  };

  for (const [what, [claims, header, ...why]] of Object.entries(refused)) {
    it(what, async () => {
      const changed = typeof claims === 'function' ? claims(issuer.seconds) : claims;
      await refuses(await issuer.token(changed, header), ...why);
    });
  }

  it('without a signature', async () => {
    for (const alg of ['none', 'nOnE', '']) {
      const unsigned = `${base64url({ alg, kid: 'first' })}.${base64url(issuer.claims())}`;
      await refuses(`${unsigned}.`);
      await refuses(`${unsigned}.c2lnbmF0dXJl`, ...ALGORITHM);
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
      await refuses(`${signed}.${signature}`, ...ALGORITHM);
    }
  });

  it('with an algorithm that its key supports but the options do not list', async () => {
    const { alg: _, ...published } = issuer.key.published;
    issuer.keys = [{ ...issuer.key, published }];
    const verifier = issuer.verifier({ algorithms: ['PS256'] });
    const token = await issuer.token({}, { alg: 'RS256' });
    await rejects(verifier.verify(token), { reason: 'algorithm' });
  });

  it('that names a known key but was signed with another, also one of another kind', async () => {
    const forged = await issuer.token({}, {}, forgerKey);
    await refuses(forged, 'the signature does not match', 'signature');
    const ofAnotherKind = await issuer.token({}, {}, await issuerKey('first', 'ES256'));
    await refuses(ofAnotherKind, 'no key of the issuer fits');
  });

  const contents = { 'no JSON': 'plants', 'a list': '[]', null: 'null', 'no UTF-8': '\xFF' };

  for (const [what, content] of Object.entries(contents)) {
    it(`whose header is ${what}, or whose claims are, even with a valid signature`, async () => {
      const bytes = Buffer.from(content, 'latin1');
      const [, ...rest] = (await issuer.token()).split('.');
      await refuses([bytes.toString('base64url'), ...rest].join('.'), ...MALFORMED);
      const signing = new CompactSign(bytes).setProtectedHeader({ alg: 'RS256', kid: 'first' });
      await refuses(await signing.sign(issuer.key.privateKey), ...MALFORMED);
    });
  }

  it('that is encrypted, or of another form', async () => {
    const token = await issuer.token();
    for (const other of [`${token}.a.b`, token.replace('.', '..'), `${token}=`, `${token}+/`]) {
      await refuses(other, ...MALFORMED);
    }
  });

  const headers: Readonly<Record<string, (url: string, jwk: JWK) => Part>> = {
    'jku and an unknown key name': (jku) => ({ jku, kid: 'forged' }),
    x5u: (x5u) => ({ x5u }),
    'jwk and without a key name': (_, jwk) => ({ jwk, kid: undefined }),
    x5c: (_, { n }) => ({ x5c: [n] }),
  };
  for (const [what, header] of Object.entries(headers)) {
    it(`that brings its own key with ${what}, which is not fetched`, async () => {
      const { published } = forgerKey;
      issuer.publish('/forged', { keys: [published] });
      await refuses(await issuer.token({}, header(`${issuer.url}/forged`, published), forgerKey));
      expect(issuer.requests).to.not.contain('/forged');
    });
  }
});
