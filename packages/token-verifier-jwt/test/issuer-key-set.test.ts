import { rejects } from 'node:assert/strict';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { type FakeIssuer, issuerKey, METADATA, startEach } from './support/fake-issuer.js';

describe("The issuer's keys", () => {
  let issuer: FakeIssuer;

  startEach((started) => (issuer = started));

  /** Publishes metadata that differ from the right ones, at the place of the configured issuer or another one. */
  function publishMetadata(changed: object, place = METADATA): void {
    issuer.publish(place, { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks`, ...changed });
  }

  /** Resolves when no verifier can fetch the keys, refuses no token, and has a cause with this text. */
  async function expectNotFetched(reason: string): Promise<void> {
    const verifier = issuer.verifier();
    const error: unknown = await verifier.ready().catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(TokenVerifierUnavailableError);
    expect(textOf(error)).to.include(reason);
    await rejects(verifier.verify(await issuer.token()), TokenVerifierUnavailableError);
  }

  describe('are found', () => {
    it('at the URL that is configured, without asking for metadata', async () => {
      await issuer.verifier({ jwksUrl: `${issuer.url}/jwks` }).ready();
      expect(issuer.requests).to.deep.equal(['/jwks']);
    });

    for (const [path, part] of Object.entries({ '/realms/plants/': '/realms/plants', '': '' })) {
      it(`for an issuer with the path ${path}, by OpenID Connect Discovery or RFC 8414`, async () => {
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

    it('not through the metadata of another issuer', async () => {
      for (const name of [`${issuer.url}/`, 'https://issuer.example', undefined]) {
        publishMetadata({ issuer: name });
        await expectNotFetched('is not the metadata of the configured issuer');
      }
      expect(issuer.requests).not.to.contain('/jwks');
    });

    it('not at a URL of the metadata that may not be trusted', async () => {
      for (const uri of ['http://192.0.2.1/jwks', 'jwks', 7, undefined]) {
        publishMetadata({ jwks_uri: uri });
        await expectNotFetched('names no jwks_uri that may be trusted');
      }
    });

    it('at their new URL when they have moved', async () => {
      const verifier = issuer.verifier();
      await verifier.ready();
      const second = await issuerKey('second');
      issuer.handlers.set('/jwks', (_, response) => response.writeHead(410).end());
      await rejects(verifier.verify(await issuer.token({}, {}, second)), InvalidTokenError);
      publishMetadata({ jwks_uri: `${issuer.url}/moved` });
      issuer.publish('/moved', { keys: [second.published] });
      issuer.now += 11_000;
      await verifier.verify(await issuer.token({}, {}, second));
    });
  });

  for (const body of [null, [], { keys: {} }, { keys: [] }, { keys: [null, 7, 'key'] }]) {
    it(`cannot be fetched when the response holds none: ${JSON.stringify(body)}`, async () => {
      issuer.publish('/jwks', body);
      await expectNotFetched('holds no key that can be used');
    });
  }

  it('are trusted by the clock of the system by default', async () => {
    await issuer.verifier({ now: undefined }).verify(await issuer.token());
  });

  it('that are not known do not delay tokens with known keys while the issuer does not respond', async () => {
    const verifier = issuer.verifier();
    await verifier.ready();
    issuer.handlers.set('/jwks', () => {});
    let settled = false;
    const unknown = await issuer.token({}, { kid: 'unknown' });
    const check = verifier.verify(unknown).catch(() => (settled = true));
    await verifier.verify(await issuer.token());
    expect(settled).to.equal(false);
    await check;
  });

  it('do not refuse a token that is being verified when they are closed', async () => {
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

function textOf(cause: unknown): string {
  const errors = cause instanceof AggregateError ? cause.errors : [];
  return cause instanceof Error ? [cause, ...[...errors, cause.cause].map(textOf)].join(': ') : '';
}
