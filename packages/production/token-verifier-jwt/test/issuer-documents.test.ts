import { rejects } from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { exportJWK, type JWK } from 'jose';
import { keysOf } from '../src/issuer-documents.js';
import { type FakeIssuer, issuerKey, METADATA, startEach } from './support/fake-issuer.js';

const { fetch } = globalThis;
const LIMIT = 256 * 1024;
const NO_KEY =
  'jwks contains no usable key: it needs a public key for RS256, PS256, ES256, EdDSA; RSA keys need at least 2048 bits';

describe("The issuer's documents", () => {
  let issuer: FakeIssuer;

  startEach((started) => (issuer = started));

  afterEach(() => Object.assign(globalThis, { fetch }));

  /** Publishes metadata that differs from the valid one in this, at the issuer's place or another. */
  function publishMetadata(changed: object, place = METADATA): void {
    issuer.publish(place, { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks`, ...changed });
  }

  /** Resolves if a verifier cannot fetch the keys for this reason, and refuses no token. */
  async function expectNotFetched(reason: string): Promise<void> {
    const verifier = issuer.verifier();
    const error: unknown = await verifier.ready().catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(TokenVerifierUnavailableError);
    expect(inspect(error, { depth: 9 })).to.include(reason);
    await rejects(verifier.verify(await issuer.token()), TokenVerifierUnavailableError);
  }

  it('are not fetched if the URL of the keys is configured', async () => {
    await issuer.verifier({ jwksUrl: `${issuer.url}/jwks` }).ready();
    expect(issuer.requests).to.deep.equal(['/jwks']);
  });

  it('are named without the query of their URL, which may contain a key', async () => {
    const jwksUrl = `${issuer.url}/jwks?code=s3cret`;
    const load = keysOf({ issuer: issuer.url, jwksUrl }, ['ES256'], () => undefined);
    for (const body of ['{}', '?']) {
      issuer.handlers.set('/jwks?code=s3cret', (_, response) => response.end(body));
      const error = await load(AbortSignal.timeout(10_000), () => undefined).catch((it) => it);
      expect(inspect(error)).to.include(`${issuer.url}/jwks `).and.not.include('s3cret');
    }
  });

  for (const [path, part] of Object.entries({ '/realms/plants/': '/realms/plants', '': '' })) {
    it(`name the URL of the keys by OpenID Connect Discovery or RFC 8414: "${path}"`, async () => {
      const name = `${issuer.url}${path}`;
      const places = [`${part}${METADATA}`, `/.well-known/oauth-authorization-server${part}`];
      issuer.handlers.set(METADATA, (_, response) => response.writeHead(404).end());
      publishMetadata({ issuer: name }, places[1]);
      await issuer.verifier({ issuer: name }).ready();
      publishMetadata({ issuer: name }, places[0]);
      await issuer.verifier({ issuer: name }).ready();
      expect(issuer.requests).to.deep.equal([...places, '/jwks', places[0], '/jwks']);
    });
  }

  it('are refused from another issuer, which the error names', async () => {
    for (const [name, shown] of [
      [`${issuer.url}/`, `the issuer "${issuer.url}/"`],
      ['https://issuer.example', 'the issuer "https://issuer.example"'],
      ['a\nb', 'the issuer "a\\nb"'],
      ['a'.repeat(100_000), `the issuer "${'a'.repeat(188)}`],
      [undefined, 'no issuer'],
    ] as const) {
      publishMetadata({ issuer: name });
      await expectNotFetched(`${METADATA} names ${shown} instead of "${issuer.url}"`);
    }
    expect(issuer.requests).not.to.contain('/jwks');
  });

  it('are refused if they name no trusted URL of the keys', async () => {
    for (const uri of ['http://192.0.2.1/jwks', 'jwks', 7, undefined]) {
      publishMetadata({ jwks_uri: uri });
      await expectNotFetched('has no jwks_uri that is an https URL');
    }
  });

  it('may name another URL later; if they become unusable, the last known one is used', async () => {
    const verifier = issuer.verifier();
    await verifier.ready();
    publishMetadata({ jwks_uri: `${issuer.url}/moved` });
    const keys = [await issuerKey('second'), await issuerKey('third')];
    const accepted = async (key = keys[0]) =>
      verifier.verify(await issuer.token({}, {}, key)).then(() => issuer.requests.at(-1));
    issuer.publish('/moved', { keys: [keys[0]?.published] });
    expect(await accepted()).to.equal('/moved');

    const another = { issuer: 'https://another.example', jwks_uri: `${issuer.url}/jwks` };
    issuer.publish(METADATA, another);
    issuer.publish('/moved', { keys: keys.map(({ published }) => published) });
    issuer.now += 1_000;
    expect(await accepted(keys[1])).to.equal('/moved');

    issuer.handlers.set('/moved', (_, response) => response.writeHead(410).end());
    issuer.now += 1_000;
    const error = await accepted(await issuerKey('fourth')).catch((failure: unknown) => failure);
    expect(inspect(error, { depth: 9 })).to.include(
      'names the issuer "https://another.example" instead of',
    );
  });

  it('are replaced by the last known URL after 6 seconds without metadata', async () => {
    const timers: [ms: number, act: () => void][] = [];
    const after = (ms: number, act: () => void) => void timers.push([ms, act]);
    const fetched: string[] = [];
    const load = keysOf({ issuer: issuer.url }, ['ES256'], after);
    const keys = () => load(AbortSignal.timeout(10_000), ({ pathname }) => fetched.push(pathname));
    await keys();
    const asked = new Promise<void>((resolve) => issuer.handlers.set(METADATA, () => resolve()));
    const loaded = keys();
    await asked;
    expect(fetched).to.deep.equal([METADATA, '/jwks', METADATA]);
    const [ms, act] = timers.at(-1) ?? [];
    expect(ms).to.equal(6_000);
    act?.();
    expect((await loaded).keys).to.have.length(1);

    issuer.handlers.set('/jwks', (_, response) => response.writeHead(410).end());
    const failed = rejects(keys(), new Error(`${issuer.url} sent no metadata within 6000 ms`));
    timers.at(-1)?.[1]();
    await failed;
  });

  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const unusable: Record<string, (key: JWK, privateKey: JWK) => Record<string, unknown>> = {
    'has a use other than signing': (key) => ({ ...key, use: 'enc' }),
    'is for another algorithm': (key) => ({ ...key, alg: 'ES384' }),
    'is for operations other than verifying': (key) => ({ ...key, key_ops: ['sign'] }),
    'has invalid operations': (key) => ({ ...key, key_ops: 7 }),
    'lacks a part': ({ x: _, ...rest }) => rest,
    'is of an unknown type': (key) => ({ ...key, kty: 'PLANT' }),
    'is a secret': () => ({ kty: 'oct', k: 'c2VjcmV0', kid: 'second', alg: 'ES256' }),
    'is private': (_, privateKey) => ({ ...privateKey, kid: 'second', alg: 'ES256' }),
    'is RSA with under 2048 bits': () => ({ ...publicKey.export({ format: 'jwk' }) }),
  };

  for (const [what, unusableKey] of Object.entries(unusable)) {
    it(`are used without a key that ${what}`, async () => {
      const second = await issuerKey('second');
      const key = unusableKey(second.published, await exportJWK(second.privateKey));
      issuer.publish('/jwks', { keys: [key, issuer.key.published] });
      const verifier = issuer.verifier();
      await verifier.verify(await issuer.token());
      await rejects(verifier.verify(await issuer.token({}, {}, second)), InvalidTokenError);
      issuer.publish('/jwks', { keys: [key] });
      await expectNotFetched(NO_KEY);
    });
  }

  for (const part of ['use', 'alg']) {
    it(`may have a key without \`${part}\``, async () => {
      issuer.publish('/jwks', { keys: [{ ...issuer.key.published, [part]: undefined }] });
      await issuer.verifier().verify(await issuer.token());
    });
  }

  it('are refused without a key', async () => {
    for (const body of [null, [], { keys: {} }, { keys: [] }, { keys: [null, 7, 'key'] }]) {
      issuer.publish('/jwks', body);
      await expectNotFetched(NO_KEY);
    }
  });

  it('are fetched without following redirects', async () => {
    issuer.handlers.set('/jwks', (_, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    await expectNotFetched('expected status 200, got 302');
    expect(issuer.requests).to.not.contain('/elsewhere');
  });

  it('may have at most 256 KiB', async () => {
    const published = `{"keys":[${JSON.stringify(issuer.key.published)}]`;
    const largest = `${published}${' '.repeat(LIMIT - published.length - 1)}}`;
    issuer.handlers.set('/jwks', (_, response) => response.end(largest));
    await issuer.verifier().ready();
    issuer.handlers.set('/jwks', (_, response) => response.end(`${largest} `));
    await expectNotFetched(`the response exceeds ${LIMIT} bytes`);
  });

  it('come only from a server with a trusted certificate', async () => {
    const codes = ['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'];
    const unable = ['VERIFY_LEAF_SIGNATURE', 'GET_ISSUER_CERT', 'GET_ISSUER_CERT_LOCALLY'];
    for (const code of [...codes, ...unable.map((it) => `UNABLE_TO_${it}`), 'ENOTFOUND']) {
      const cause = Object.assign(new Error('in the words of OpenSSL'), { code });
      Object.assign(globalThis, {
        fetch: () => Promise.reject(new TypeError('failed', { cause })),
      });
      await expectNotFetched(code === 'ENOTFOUND' ? cause.message : 'NODE_EXTRA_CA_CERTS');
    }
  });
});
