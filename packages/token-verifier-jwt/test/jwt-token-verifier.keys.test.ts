import { rejects } from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import {
  authenticatedClient,
  InvalidTokenError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { exportJWK, type JWK } from 'jose';
import { VerifiedClients } from '../src/issuer-keys.js';
import { type FakeIssuer, type IssuerKey, issuerKey, startEach } from './support/fake-issuer.js';

describe('A key of an issuer', () => {
  let second: IssuerKey;
  let issuer: FakeIssuer;

  before(async () => {
    second = await issuerKey('second');
  });

  startEach((started) => (issuer = started));

  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const unusable: Record<string, (key: JWK, privateKey: JWK) => Record<string, unknown>> = {
    'is of a use other than signing': (key) => ({ ...key, use: 'enc' }),
    'is for another algorithm': (key) => ({ ...key, alg: 'ES384' }),
    'is for operations other than verifying': (key) => ({ ...key, key_ops: ['sign'] }),
    'has invalid operations': (key) => ({ ...key, key_ops: 7 }),
    'lacks a part': ({ x: _, ...rest }) => rest,
    'is of an unknown type': (key) => ({ ...key, kty: 'PLANT' }),
    'is a secret': () => ({ kty: 'oct', k: 'c2VjcmV0', kid: 'second', alg: 'ES256' }),
    'is private': (_, privateKey) => ({ ...privateKey, kid: 'second', alg: 'ES256' }),
    'is of RSA with less than 2048 bits': () => ({ ...publicKey.export({ format: 'jwk' }) }),
  };

  for (const [what, unusableKey] of Object.entries(unusable)) {
    it(`is skipped when it ${what}`, async () => {
      const key = unusableKey(second.published, await exportJWK(second.privateKey));
      issuer.publish('/jwks', { keys: [key, issuer.key.published] });
      const verifier = issuer.verifier();
      await verifier.verify(await issuer.token());
      await rejects(verifier.verify(await issuer.token({}, {}, second)), InvalidTokenError);
      issuer.publish('/jwks', { keys: [key] });
      const algorithms = ['ES256', 'RS256'];
      await rejects(issuer.verifier({ algorithms }).ready(), TokenVerifierUnavailableError);
    });
  }

  for (const part of ['use', 'alg']) {
    it(`is used when it has no \`${part}\``, async () => {
      issuer.publish('/jwks', { keys: [{ ...issuer.key.published, [part]: undefined }] });
      await issuer.verifier().verify(await issuer.token());
    });
  }

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
  let issuer: FakeIssuer;

  startEach((started) => (issuer = started));

  /** Returns a verifier, and whether the client of each token was cached. */
  function open() {
    const cached: boolean[] = [];
    const verifier = issuer.verifier({
      observer: (event) => {
        if (event.type === 'token checked') cached.push(event.cached);
      },
    });
    return { verifier, cached };
  }

  it('is cached until its expiry, although it is accepted for 30 seconds more', async () => {
    const { verifier, cached } = open();
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
    for (let index = 0; index <= 10_000; index += 1) verified.set(`${index}`, { client, until: 1 });
    expect([verified.has('0'), verified.has('1')]).to.deep.equal([false, true]);
  });

  it('is dropped from the cache when the keys change, and only then', async () => {
    const { verifier, cached } = open();
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
