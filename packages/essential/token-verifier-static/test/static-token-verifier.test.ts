import { rejects } from 'node:assert/strict';
import { mocha } from '@plant-store/contract-suite/mocha';
import { InvalidTokenError } from '@plant-store/domain';
import { describeTokenVerifier, type OpenVerifier } from '@plant-store/token-verifier-contract';
import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';

const known = (token: string, label: string) => ({ sha256: tokenDigest(token), label });

const verifier = () =>
  new StaticTokenVerifier([known('first token', 'first'), known('second token', 'second')]);

async function open(): Promise<OpenVerifier> {
  const [token, next, third] = [newToken(), newToken(), newToken()];
  return {
    verifier: new StaticTokenVerifier([
      known(token, 'greenhouse'),
      { label: 'nursery', sha256: tokenDigest(next).toUpperCase(), permissions: ['create plants'] },
      { ...known(third, 'visitor'), permissions: [] },
    ]),
    accepted: [
      { token, name: 'greenhouse', permissions: ['create plants', 'read plants'] },
      { token: next, name: 'nursery', permissions: ['create plants'] },
      { token: third, name: 'visitor', permissions: [] },
    ],
    refused: { 'a token that was not given out': newToken(), 'a digest': tokenDigest(token) },
  };
}

describeTokenVerifier(mocha, 'StaticTokenVerifier', open, {
  without: ['dependency'],
});

const shown = (text: string) => JSON.stringify(text.length > 10 ? `${text.slice(0, 10)}…` : text);

describe('StaticTokenVerifier', () => {
  it('refuses an unknown token without quoting it', async () => {
    const refusal = new InvalidTokenError('the token is unknown');
    await rejects(verifier().verify('first token '), refusal);
  });

  for (const digest of ['', 'abc', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65)]) {
    it(`refuses a digest of ${digest.length} characters: ${shown(digest)}`, () => {
      expect(() => new StaticTokenVerifier([{ sha256: digest, label: 'invalid' }]))
        .to.throw(TypeError)
        .with.property('message', 'token 1: the digest must be 64 hexadecimal digits');
    });
  }

  for (const label of ['', ' ', ' a', 'a\nb', 'a\u0007b', 'a'.repeat(65)]) {
    it(`refuses the label ${shown(label)}`, () => {
      expect(() => new StaticTokenVerifier([known('first', 'first'), known('second', label)]))
        .to.throw(TypeError)
        .with.property('message', 'token 2: the label must be 1 to 64 printable characters');
    });
  }
});
