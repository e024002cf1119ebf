import { newToken, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';

describe('A new token', () => {
  it('has a prefix for secret scanners and 256 random bits in RFC 6750 syntax', () => {
    const tokens = Array.from({ length: 1000 }, newToken);
    for (const token of tokens) expect(token).to.match(/^plantstore_[A-Za-z0-9_-]{43}$/);
    expect(new Set(tokens).size).to.equal(1000);
  });

  it('is identified by its SHA-256 digest', () => {
    expect(tokenDigest('abc')).to.equal(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
