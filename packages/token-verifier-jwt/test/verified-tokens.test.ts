import { rejects } from 'node:assert/strict';
import { authenticatedClient, InvalidTokenError } from '@plant-store/domain';
import { expect } from 'chai';
import { VerifiedTokens } from '../src/verified-tokens.js';
import { FakeIssuer, type IssuerKey, issuerKey } from './support/fake-issuer.js';

describe('A verified token', () => {
  let key: IssuerKey;
  let issuer: FakeIssuer;
  let cached: boolean[];

  before(async () => {
    key = await issuerKey('first');
  });

  beforeEach(async () => {
    issuer = await FakeIssuer.start(key);
    cached = [];
  });

  afterEach(() => issuer.close());

  const newVerifier = () =>
    issuer.verifier({
      observer: (event) => {
        if (event.type === 'token checked') cached.push(event.cached);
      },
    });

  it('is cached', async () => {
    const verifier = newVerifier();
    const token = await issuer.token();
    const client = await verifier.verify(token);
    expect(await verifier.verify(token)).to.equal(client);
    expect(cached).to.deep.equal([false, true]);
  });

  it('is not cached after its expiry, although it is accepted for 30 seconds more', async () => {
    const verifier = newVerifier();
    const token = await issuer.token({ exp: issuer.seconds + 60 });
    await verifier.verify(token);
    issuer.now = (issuer.seconds + 60) * 1000 - 1;
    await verifier.verify(token);
    issuer.now += 1;
    await verifier.verify(token);
    await verifier.verify(token);
    issuer.now += 30_000;
    await rejects(verifier.verify(token), { reason: 'expired' });
    expect(cached).to.deep.equal([false, true, false, false, false]);
  });

  it('is dropped from the cache when 10,000 were verified after it', () => {
    const tokens = new VerifiedTokens();
    const client = authenticatedClient('gardener', []);
    for (let index = 0; index <= 10_000; index += 1) tokens.add(`${index}`, client, 1);
    expect(tokens.clientOf('0', 0)).to.equal(undefined);
    expect(tokens.clientOf('1', 0)).to.equal(client);
    tokens.add('1', client, 1);
    tokens.add('next', client, 1);
    expect(tokens.clientOf('1', 0), 'of a token that was verified again').to.equal(client);
  });

  it('is dropped from the cache when the keys change, and only then', async () => {
    const verifier = newVerifier();
    const token = await issuer.token();
    const fetchAgain = async () => {
      issuer.now += 10_000;
      await rejects(verifier.verify(await issuer.token({}, { kid: 'other' })), InvalidTokenError);
    };
    await verifier.verify(token);
    await fetchAgain();
    await verifier.verify(token);
    issuer.keys = [key, await issuerKey('second')];
    await fetchAgain();
    await verifier.verify(token);
    await verifier.verify(token);
    expect(cached).to.deep.equal([false, false, true, false, false, true]);
  });

  it('is cached only when it was accepted', async () => {
    const verifier = newVerifier();
    const expired = await issuer.token({ exp: issuer.seconds - 60 });
    await rejects(verifier.verify(expired), InvalidTokenError);
    await rejects(verifier.verify(expired), InvalidTokenError);
    expect(cached).to.deep.equal([false, false]);
  });
});
