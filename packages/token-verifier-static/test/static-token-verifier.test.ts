import { rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { StaticTokenVerifier } from '@plant-store/token-verifier-static';
import { expect } from 'chai';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');

const verifier = () =>
  new StaticTokenVerifier([
    { sha256: sha256('first token'), label: 'first' },
    { sha256: sha256('second token').toUpperCase(), label: 'second' },
    { sha256: sha256('third token'), label: 'third' },
  ]);

describe('StaticTokenVerifier', () => {
  for (const label of ['first', 'second', 'third']) {
    it(`knows the client of the ${label} of several tokens by its label`, async () => {
      const client = await verifier().verify(`${label} token`);
      expect(client.name).to.equal(label);
      expect([...client.permissions]).to.deep.equal(['create plants']);
    });
  }

  for (const token of ['', 'first', 'first token ', 'First token', sha256('first token')]) {
    it(`refuses ${JSON.stringify(token)} without repeating it`, async () => {
      await rejects(verifier().verify(token), new InvalidTokenError('the token is not known'));
    });
  }

  it('refuses every token when it knows none', async () => {
    await rejects(new StaticTokenVerifier([]).verify('first token'), InvalidTokenError);
  });

  for (const digest of ['', 'abc', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65)]) {
    it(`cannot be made from the digest '${digest}'`, () => {
      expect(() => new StaticTokenVerifier([{ sha256: digest, label: 'faulty' }]))
        .to.throw(TypeError)
        .with.property('message', 'the digest of faulty must be 64 hexadecimal digits');
    });
  }

  it('after close tells that it is unavailable, not that the token is invalid', async () => {
    const closed = verifier();
    await closed.ready();
    await Promise.all([closed.close(), closed.close()]);
    await rejects(closed.verify('first token'), TokenVerifierUnavailableError);
    await rejects(closed.verify('no token'), TokenVerifierUnavailableError);
    await rejects(closed.ready(), TokenVerifierUnavailableError);
  });
});
