import { rejects } from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import type { TokenObserver } from '@plant-store/token-verifier-jwt';
import { expect } from 'chai';
import { exportJWK } from 'jose';
import { FakeIssuer, type IssuerKey, issuerKey, json } from './support/fake-issuer.js';

const METADATA = '/.well-known/openid-configuration';
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

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

  describe('are found', () => {
    it('at the URL that is configured, without asking for metadata', async () => {
      await issuer.verifier({ jwksUrl: `${issuer.url}/jwks` }).ready();
      expect(issuer.requests).to.deep.equal(['/jwks']);
    });

    it('with a request for JSON', async () => {
      const accepted = withResolvers<string | undefined>();
      issuer.handlers.set('/jwks', ({ headers }, response) => {
        accepted.resolve(headers.accept);
        response.end();
      });
      issuer.verifier({ jwksUrl: `${issuer.url}/jwks` });
      expect(await accepted.promise).to.equal('application/json, application/jwk-set+json');
    });

    it('through OpenID Connect Discovery', async () => {
      await issuer.verifier().ready();
      expect(issuer.requests).to.deep.equal([METADATA, '/jwks']);
    });

    for (const path of ['/realms/plants', '/realms/plants/', '/']) {
      it(`for an issuer with the path ${path}, by OpenID Connect Discovery`, async () => {
        const name = `${issuer.url}${path}`;
        const place = `${path.replace(/\/$/, '')}${METADATA}`;
        issuer.handlers.set(place, (_, response) =>
          json(response, { issuer: name, jwks_uri: `${issuer.url}/jwks` }),
        );
        await issuer.verifier({ issuer: name }).ready();
        expect(issuer.requests).to.deep.equal([place, '/jwks']);
      });

      it(`for an issuer with the path ${path}, by RFC 8414`, async () => {
        const name = `${issuer.url}${path}`;
        const place = `/.well-known/oauth-authorization-server${path.replace(/\/$/, '')}`;
        issuer.handlers.set(METADATA, (_, response) => response.writeHead(404).end());
        issuer.handlers.set(place, (_, response) =>
          json(response, { issuer: name, jwks_uri: `${issuer.url}/jwks` }),
        );
        await issuer.verifier({ issuer: name }).ready();
        expect(issuer.requests.slice(1)).to.deep.equal([place, '/jwks']);
      });
    }

    it('not through the metadata of another issuer', async () => {
      for (const name of [`${issuer.url}/`, 'https://issuer.example', undefined]) {
        issuer.handlers.set(METADATA, (_, response) =>
          json(response, { issuer: name, jwks_uri: `${issuer.url}/jwks` }),
        );
        expect(await whyNotFetched()).to.contain('is not the metadata of the configured issuer');
      }
      expect(issuer.requests).not.to.contain('/jwks');
    });

    for (const uri of ['http://192.0.2.1/jwks', 'file:///etc/passwd', 'jwks', '', 7, undefined]) {
      it(`not where metadata names ${JSON.stringify(uri)}`, async () => {
        issuer.handlers.set(METADATA, (_, response) =>
          json(response, { issuer: issuer.url, jwks_uri: uri }),
        );
        expect(await whyNotFetched()).to.contain('names no jwks_uri that may be trusted');
      });
    }

    it('at their new URL when they have moved', async () => {
      const verifier = issuer.verifier();
      await verifier.ready();
      issuer.keys = [second];
      issuer.handlers.set('/jwks', (_, response) => response.writeHead(410).end());
      await rejects(verifier.verify(await issuer.token({ iat: 1 })), InvalidTokenError);
      issuer.handlers.set(METADATA, (_, response) =>
        json(response, { issuer: issuer.url, jwks_uri: `${issuer.url}/moved` }),
      );
      issuer.handlers.set('/moved', (_, response) => json(response, { keys: [second.published] }));
      issuer.now += 11 * SECOND;
      await verifier.verify(await issuer.token());
    });
  });

  describe('cannot be fetched, so that no token is refused, when the response', () => {
    it('does not come', async () => {
      issuer.handlers.set('/jwks', () => {});
      expect(await whyNotFetched()).to.match(/no response from 127\.0\.0\.1:\d+ within 1500 ms/);
    });

    it('to the request for metadata does not arrive', async () => {
      issuer.handlers.set(METADATA, () => {});
      expect(await whyNotFetched()).to.match(
        /^TokenVerifierUnavailableError: the issuer's keys cannot be fetched: Error: no response from 127\.0\.0\.1:\d+ within 1500 ms: undefined$/,
      );
      expect(issuer.requests).to.deep.equal([METADATA]);
    });

    it('is cut off', async () => {
      issuer.handlers.set('/jwks', (_, response) => {
        response.writeHead(200, { 'content-length': 1000 }).write('{"keys":[', () => {
          response.destroy();
        });
      });
      await whyNotFetched();
    });

    for (const status of [301, 302, 307, 308]) {
      it(`is a redirect with status ${status}, which is not followed`, async () => {
        issuer.handlers.set('/jwks', (_, response) =>
          response.writeHead(status, { location: '/elsewhere' }).end(),
        );
        expect(await whyNotFetched()).to.contain(`the status is ${status} instead of 200`);
        expect(issuer.requests).not.to.contain('/elsewhere');
      });
    }

    it('is 60 MB, of which only the beginning is read', async () => {
      const block = Buffer.alloc(1024 * 1024, ' ');
      const written = withResolvers<number>();
      issuer.handlers.set('/jwks', (_, response) => {
        const { socket } = response;
        socket?.once('close', () => written.resolve(socket.bytesWritten));
        let blocks = 0;
        // Writes to a closed connection fail at once, before it is known to be closed.
        const send = (error?: Error | null) => {
          if (error || blocks === 60 || response.destroyed) return;
          blocks += 1;
          response.write(block, send);
        };
        response.writeHead(200, { 'content-type': 'application/json' });
        send();
      });
      expect(await whyNotFetched()).to.contain('the response is larger than 262144 bytes');
      expect(await written.promise).to.be.below(20 * block.length);
    });

    for (const [what, body] of Object.entries({
      'is not JSON': '<html>',
      'is empty': '',
      'is not UTF-8': Buffer.from([0x22, 0xff, 0x22]),
    })) {
      it(what, async () => {
        issuer.handlers.set('/jwks', (_, response) => response.writeHead(200).end(body));
        expect(await whyNotFetched()).to.contain('did not give a JSON document');
      });
    }

    for (const body of [null, 7, [], {}, { keys: {} }, { keys: [] }, { keys: [null, 7, 'key'] }]) {
      it(`holds no key: ${JSON.stringify(body)}`, async () => {
        issuer.handlers.set('/jwks', (_, response) => json(response, body));
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
        issuer.handlers.set('/jwks', (_, response) =>
          json(response, { keys: [published(second), first.published] }),
        );
        const verifier = issuer.verifier();
        await verifier.verify(await issuer.token());
        await rejects(verifier.verify(await issuer.token({}, {}, second)), InvalidTokenError);
      });
    }

    it('those that are private', async () => {
      const leaked = { ...(await exportJWK(second.privateKey)), kid: 'second', alg: 'ES256' };
      issuer.handlers.set('/jwks', (_, response) =>
        json(response, { keys: [leaked, first.published] }),
      );
      const verifier = issuer.verifier();
      await rejects(verifier.verify(await issuer.token({}, {}, second)), InvalidTokenError);
    });

    it('those of RSA with less than 2048 bits', async () => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
      const weak = { ...publicKey.export({ format: 'jwk' }), kid: 'weak' };
      issuer.handlers.set('/jwks', (_, response) => json(response, { keys: [weak] }));
      expect(await whyNotFetched()).to.contain('holds no key that can be used');
    });
  });

  for (const part of ['use', 'alg']) {
    it(`are used when they have no \`${part}\``, async () => {
      const published = { ...first.published, [part]: undefined };
      issuer.handlers.set('/jwks', (_, response) => json(response, { keys: [published] }));
      await issuer.verifier().verify(await issuer.token());
    });
  }

  it('are trusted by the clock of the system by default', async () => {
    await issuer.verifier({ now: undefined }).verify(await issuer.token());
  });

  describe('that are rotated', () => {
    it('are picked up with the first token that names a new one', async () => {
      const verifier = issuer.verifier();
      await verifier.verify(await issuer.token());
      issuer.keys = [second, first];
      await verifier.verify(await issuer.token());
      await verifier.verify(await issuer.token({}, {}, first));
    });

    it('are no longer accepted once they are withdrawn, not even for a cached token', async () => {
      const verifier = issuer.verifier();
      const token = await issuer.token();
      await verifier.verify(token);
      issuer.keys = [second];
      await verifier.verify(await issuer.token());
      await rejects(verifier.verify(token), InvalidTokenError);
    });

    it('are picked up in the background', async () => {
      const fetches = withResolvers<void>();
      let count = 0;
      const observer: TokenObserver = ({ type }) => {
        if (type !== 'issuer reached') return;
        count += 1;
        if (count === 1) issuer.keys = [second];
        if (count === 3) fetches.resolve();
      };
      const verifier = issuer.verifier({ refreshIntervalMs: 10, observer });
      await fetches.promise;
      const before = issuer.requests.length;
      await verifier.close();
      await rejects(verifier.ready(), TokenVerifierUnavailableError);
      expect(before).to.be.at.least(4);
    });

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

  describe('that are not known', () => {
    const unknown = (index: number) => issuer.token({}, { kid: `unknown ${index}` });

    it('are fetched at most once in 10 seconds', async () => {
      const verifier = issuer.verifier();
      await verifier.ready();
      const before = issuer.requests.length;
      for (let index = 0; index < 50; index += 1) {
        await rejects(verifier.verify(await unknown(index)), InvalidTokenError);
      }
      expect(issuer.requests.length - before).to.equal(1);
      issuer.now += 10 * SECOND;
      const checks = Array.from({ length: 50 }, async (_, index) =>
        rejects(verifier.verify(await unknown(index)), InvalidTokenError),
      );
      await Promise.all(checks);
      expect(issuer.requests.length - before).to.equal(2);
    });

    it('do not delay tokens with known keys while the issuer does not respond', async () => {
      const verifier = issuer.verifier();
      await verifier.ready();
      issuer.handlers.set('/jwks', () => {});
      let settled = false;
      const check = verifier.verify(await unknown(1)).catch(() => {
        settled = true;
      });
      await verifier.verify(await issuer.token());
      expect(settled).to.equal(false);
      await check;
    });
  });

  describe('of an issuer that cannot be reached', () => {
    it('are not needed to construct a verifier, and are fetched when the issuer is back', async () => {
      await issuer.stop();
      const { observer, promise } = failure();
      const verifier = issuer.verifier({ observer });
      expect(textOf(await promise))
        .to.contain('ECONNREFUSED')
        .and.not.to.contain('fetch failed');
      const error: unknown = await verifier.ready().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TokenVerifierUnavailableError);
      expect(textOf(error)).to.match(/the issuer's keys cannot be fetched.*ECONNREFUSED/);
      await rejects(verifier.verify(await issuer.token()), TokenVerifierUnavailableError);
      await issuer.listen();
      issuer.now += 10 * SECOND;
      await verifier.verify(await issuer.token());
      await verifier.ready();
    });

    it('are trusted for an hour, and then every token is reported as unavailable', async () => {
      const verifier = issuer.verifier();
      const known = await issuer.token({ exp: issuer.seconds + 7200 });
      await verifier.verify(known);
      await issuer.stop();
      issuer.now += HOUR - SECOND;
      await verifier.verify(known);
      await verifier.verify(await issuer.token());
      await rejects(verifier.verify(await issuer.token({ aud: 'other' })), InvalidTokenError);
      await verifier.ready();
      issuer.now += SECOND;
      await rejects(verifier.verify(known), TokenVerifierUnavailableError);
      await rejects(verifier.verify(await issuer.token()), TokenVerifierUnavailableError);
      await rejects(verifier.ready(), TokenVerifierUnavailableError);
    });
  });

  it('are no longer fetched after close, which ends the fetch under way', async () => {
    const asked = withResolvers<void>();
    issuer.handlers.set('/jwks', () => asked.resolve());
    const reported: string[] = [];
    const verifier = issuer.verifier({ observer: ({ type }) => reported.push(type) });
    const ready = verifier.ready().catch(textOf);
    const check = verifier.verify(await issuer.token());
    await asked.promise;
    await Promise.all([rejects(check, TokenVerifierUnavailableError), verifier.close()]);
    expect(await ready)
      .to.contain('the token verifier is closed')
      .and.not.to.contain('1500 ms');
    expect(issuer.requests).to.deep.equal([METADATA, '/jwks']);
    expect(reported).to.deep.equal(['token checked']);
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
