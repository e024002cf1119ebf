import { rejects } from 'node:assert/strict';
import { InvalidTokenError } from '@plant-store/domain';
import { expect } from 'chai';
import { FakeIssuer, type IssuerKey, issuerKey } from './fake-issuer.js';

describe('A verified token', () => {
  let key: IssuerKey;
  let issuer: FakeIssuer;
  let remembered: boolean[];

  before(async () => {
    key = await issuerKey('first');
  });

  beforeEach(async () => {
    issuer = await FakeIssuer.start(key);
    remembered = [];
  });

  afterEach(() => issuer.close());

  const verifier = (rememberedTokens?: number) =>
    issuer.verifier({
      rememberedTokens,
      observer: (event) => {
        if (event.type === 'token checked') remembered.push(event.remembered);
      },
    });

  it('is remembered', async () => {
    const remembering = verifier();
    const token = await issuer.token();
    const client = await remembering.verify(token);
    expect(await remembering.verify(token)).to.equal(client);
    expect(remembered).to.deep.equal([false, true]);
  });

  it('is checked once for all who ask at the same time', async () => {
    const remembering = verifier();
    const token = await issuer.token();
    const checks = Array.from({ length: 100 }, () => remembering.verify(token));
    expect(new Set(await Promise.all(checks)).size).to.equal(1);
  });

  it('is not remembered past its expiry, though it is accepted a little longer', async () => {
    const remembering = verifier();
    const token = await issuer.token({ exp: issuer.seconds + 60 });
    await remembering.verify(token);
    issuer.now = (issuer.seconds + 60) * 1000 - 1;
    await remembering.verify(token);
    issuer.now += 1;
    await remembering.verify(token);
    await remembering.verify(token);
    issuer.now += 30_000;
    await rejects(remembering.verify(token), { reason: 'expired' });
    expect(remembered).to.deep.equal([false, true, false, false, false]);
  });

  it('makes room for newer ones', async () => {
    const remembering = verifier(2);
    const tokens = await Promise.all(['a', 'b', 'c'].map((sub) => issuer.token({ sub })));
    for (const token of tokens) await remembering.verify(token);
    for (const token of tokens.toReversed()) await remembering.verify(token);
    expect(remembered.slice(3)).to.deep.equal([true, true, false]);
  });

  it('is not remembered when none are to be', async () => {
    const remembering = verifier(0);
    const token = await issuer.token();
    await remembering.verify(token);
    await remembering.verify(token);
    expect(remembered).to.deep.equal([false, false]);
  });

  it('is forgotten when the keys change, and only then', async () => {
    const remembering = verifier();
    const token = await issuer.token();
    const fetchAgain = async () => {
      issuer.now += 10_000;
      await rejects(
        remembering.verify(await issuer.token({}, { kid: 'other' })),
        InvalidTokenError,
      );
    };
    await remembering.verify(token);
    await fetchAgain();
    await remembering.verify(token);
    issuer.keys = [key, await issuerKey('second')];
    await fetchAgain();
    await remembering.verify(token);
    await remembering.verify(token);
    expect(remembered).to.deep.equal([false, false, true, false, false, true]);
  });

  it('is remembered only when it was accepted', async () => {
    const remembering = verifier();
    const expired = await issuer.token({ exp: issuer.seconds - 60 });
    await rejects(remembering.verify(expired), InvalidTokenError);
    await rejects(remembering.verify(expired), InvalidTokenError);
    expect(remembered).to.deep.equal([false, false]);
  });
});
