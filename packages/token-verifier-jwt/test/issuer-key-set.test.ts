import { rejects } from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import type { TokenObserver } from '@plant-store/token-verifier-jwt';
import { expect } from 'chai';
import { exportJWK } from 'jose';
import { FakeIssuer, type IssuerKey, issuerKey, json } from './support/fake-issuer.js';

const METADATA = '/.well-known/openid-configuration';
const SECOND = 1_000;

describe("The issuer's keys", () => {
  let first: IssuerKey;
  let second: IssuerKey;
  let issuer: FakeIssuer;

  before(async () => {
    first = await issuerKey('first');
    second = await issuerKey('second');
  });

  beforeEach(async () => {
    issuer = await FakeIssuer.start(first);
  });

  afterEach(() => issuer.close());

  /** An observer, and a promise for the error of the first fetch that fails. */
  function failure() {
    const { promise, resolve } = withResolvers<unknown>();
    const observer: TokenObserver = (event) => {
      if (event.type === 'issuer not reached') resolve(event.error);
    };
    return { observer, promise };
  }

  /** Resolves with why a new verifier cannot fetch the keys, as a text with all causes. */
  async function whyNotFetched(jwksUrl?: string): Promise<string> {
    const { observer, promise } = failure();
    const verifier = issuer.verifier({ observer, jwksUrl });
    const cause = await promise;
    await rejects(verifier.ready(), TokenVerifierUnavailableError);
    await rejects(verifier.verify(await issuer.token()), TokenVerifierUnavailableError);
    return textOf(cause);
  }

  /** Publishes metadata that differ from the right ones, at the place of the configured issuer or another one. */
  function publishMetadata(changed: object, place = METADATA): void {
    const metadata = { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks`, ...changed };
    issuer.handlers.set(place, (_, response) => json(response, metadata));
  }

  /** Publishes a key set at the usual place. */
  function publish(keySet: unknown): void {
    issuer.handlers.set('/jwks', (_, response) => json(response, keySet));
  }

  describe('are found', () => {
    it('at the URL that is configured, without asking for metadata', async () => {
      await issuer.verifier({ jwksUrl: `${issuer.url}/jwks` }).ready();
      expect(issuer.requests).to.deep.equal(['/jwks']);
    });

    for (const path of ['/realms/plants/', '']) {
      it(`for an issuer with the path ${path}, by OpenID Connect Discovery`, async () => {
        const name = `${issuer.url}${path}`;
        const place = `${path.replace(/\/$/, '')}${METADATA}`;
        publishMetadata({ issuer: name }, place);
        await issuer.verifier({ issuer: name }).ready();
        expect(issuer.requests).to.deep.equal([place, '/jwks']);
      });

      it(`for an issuer with the path ${path}, by RFC 8414`, async () => {
        const name = `${issuer.url}${path}`;
        const place = `/.well-known/oauth-authorization-server${path.replace(/\/$/, '')}`;
        issuer.handlers.set(METADATA, (_, response) => response.writeHead(404).end());
        publishMetadata({ issuer: name }, place);
        await issuer.verifier({ issuer: name }).ready();
        expect(issuer.requests.slice(1)).to.deep.equal([place, '/jwks']);
      });
    }

    it('not through the metadata of another issuer', async () => {
      for (const name of [`${issuer.url}/`, 'https://issuer.example', undefined]) {
        publishMetadata({ issuer: name });
        expect(await whyNotFetched()).to.contain('is not the metadata of the configured issuer');
      }
      expect(issuer.requests).not.to.contain('/jwks');
    });

    for (const uri of ['http://192.0.2.1/jwks', 'jwks', 7, undefined]) {
      it(`not where metadata names ${JSON.stringify(uri)}`, async () => {
        publishMetadata({ jwks_uri: uri });
        expect(await whyNotFetched()).to.contain('names no jwks_uri that may be trusted');
      });
    }

    it('at their new URL when they have moved', async () => {
      const verifier = issuer.verifier();
      await verifier.ready();
      issuer.keys = [second];
      issuer.handlers.set('/jwks', (_, response) => response.writeHead(410).end());
      await rejects(verifier.verify(await issuer.token({ iat: 1 })), InvalidTokenError);
      publishMetadata({ jwks_uri: `${issuer.url}/moved` });
      issuer.handlers.set('/moved', (_, response) => json(response, { keys: [second.published] }));
      issuer.now += 11 * SECOND;
      await verifier.verify(await issuer.token());
    });
  });

  describe('cannot be fetched, so that no token is refused, when the response', () => {
    for (const body of [null, [], { keys: {} }, { keys: [] }, { keys: [null, 7, 'key'] }]) {
      it(`holds no key: ${JSON.stringify(body)}`, async () => {
        publish(body);
        expect(await whyNotFetched()).to.contain('holds no key that can be used');
      });
    }
  });

  describe('that cannot be used are skipped:', () => {
    const unusable: Record<string, (key: IssuerKey) => Record<string, unknown>> = {
      'of a use other than signing': ({ published }) => ({ ...published, use: 'enc' }),
      'for another algorithm': ({ published }) => ({ ...published, alg: 'ES384' }),
      'for operations other than verifying': ({ published }) => ({
        ...published,
        key_ops: ['sign'],
      }),
      'with invalid operations': ({ published }) => ({ ...published, key_ops: 7 }),
      'with a part missing': ({ published: { x: _, ...rest } }) => rest,
      'of an unknown type': ({ published }) => ({ ...published, kty: 'PLANT' }),
      'that are secrets': () => ({ kty: 'oct', k: 'c2VjcmV0', kid: 'second', alg: 'ES256' }),
    };

    for (const [what, published] of Object.entries(unusable)) {
      it(`those ${what}`, async () => {
        publish({ keys: [published(second), first.published] });
        const verifier = issuer.verifier();
        await verifier.verify(await issuer.token());
        await rejects(verifier.verify(await issuer.token({}, {}, second)), InvalidTokenError);
      });
    }

    it('those that are private', async () => {
      const leaked = { ...(await exportJWK(second.privateKey)), kid: 'second', alg: 'ES256' };
      publish({ keys: [leaked, first.published] });
      const verifier = issuer.verifier();
      await rejects(verifier.verify(await issuer.token({}, {}, second)), InvalidTokenError);
    });

    it('those of RSA with less than 2048 bits', async () => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
      const weak = { ...publicKey.export({ format: 'jwk' }), kid: 'weak' };
      publish({ keys: [weak] });
      expect(await whyNotFetched()).to.contain('holds no key that can be used');
    });
  });

  for (const part of ['use', 'alg']) {
    it(`are used when they have no \`${part}\``, async () => {
      const published = { ...first.published, [part]: undefined };
      publish({ keys: [published] });
      await issuer.verifier().verify(await issuer.token());
    });
  }

  it('are trusted by the clock of the system by default', async () => {
    await issuer.verifier({ now: undefined }).verify(await issuer.token());
  });

  describe('that are rotated', () => {
    it('are tried one after the other when they have no name', async () => {
      const [unnamed, another] = [await issuerKey(undefined), await issuerKey(undefined)];
      issuer.keys = [unnamed, another];
      const verifier = issuer.verifier();
      await verifier.verify(await issuer.token({}, {}, unnamed));
      await verifier.verify(await issuer.token({}, {}, another));
      await rejects(
        verifier.verify(await issuer.token({}, {}, await issuerKey(undefined))),
        InvalidTokenError,
      );
    });

    it('are picked up, when they have no name, with the first token that no known key verifies', async () => {
      issuer.keys = [await issuerKey(undefined)];
      const verifier = issuer.verifier();
      await verifier.verify(await issuer.token());
      issuer.keys = [await issuerKey(undefined)];
      await verifier.verify(await issuer.token());
    });
  });

  it('that are not known do not delay tokens with known keys while the issuer does not respond', async () => {
    const verifier = issuer.verifier();
    await verifier.ready();
    issuer.handlers.set('/jwks', () => {});
    let settled = false;
    const unknown = await issuer.token({}, { kid: 'unknown' });
    const check = verifier.verify(unknown).catch(() => {
      settled = true;
    });
    await verifier.verify(await issuer.token());
    expect(settled).to.equal(false);
    await check;
  });

  it('do not refuse a token that is being verified when they are closed', async () => {
    const verifier = issuer.verifier();
    await verifier.ready();
    const asked = withResolvers<void>();
    issuer.handlers.set('/jwks', () => asked.resolve());
    const check = verifier.verify(await issuer.token({}, { kid: 'unknown' }));
    await asked.promise;
    await Promise.all([
      rejects(check, new TokenVerifierUnavailableError('the token verifier is closed')),
      verifier.close(),
    ]);
  });
});

/** `Promise.withResolvers`, which Node.js 20 does not have. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function textOf(cause: unknown): string {
  if (cause instanceof AggregateError)
    return [cause.message, ...cause.errors.map(textOf)].join(': ');
  return cause instanceof Error ? `${cause}: ${textOf(cause.cause)}` : String(cause);
}
