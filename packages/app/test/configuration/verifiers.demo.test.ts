import { expect } from 'chai';
import { demoVerifier } from '../../src/configuration/verifiers.js';

describe('The verifier without configuration', () => {
  it('accepts only its own token, for a client with the name demo', async () => {
    const { name, demoToken = '', open } = demoVerifier();
    expect(name).to.equal('static');
    const { verifier } = await open(() => undefined);
    const client = await verifier.verify(demoToken);
    expect(client.name).to.equal('demo');
    expect([...client.permissions]).to.deep.equal(['create plants', 'read plants']);
  });
});
