import { AUDIENCE, OidcIssuer, SCOPE, signingKey } from '@plant-store/oidc-issuer';
import { JwtTokenVerifier } from '@plant-store/token-verifier-jwt';
import { expect } from 'chai';
import type { JWK } from 'jose';

describe('With a real provider, a JwtTokenVerifier', () => {
  let keys: [JWK, JWK, JWK];
  let provider: OidcIssuer;
  let verifier: JwtTokenVerifier;
  let now: () => number;

  before(async () => {
    keys = [await signingKey('first'), await signingKey('second'), await signingKey('third')];
  });

  beforeEach(async () => {
    now = Date.now;
    provider = await OidcIssuer.start(keys[0]);
    verifier = new JwtTokenVerifier({
      issuer: provider.url,
      audience: AUDIENCE,
      scopes: { 'create plants': SCOPE, 'read plants': 'plants:read' },
      now: () => now(),
    });
  });

  afterEach(async () => {
    await verifier.close();
    await provider.stop();
  });

  const keyRequests = () => provider.requests.filter((path) => path === '/jwks').length;

  it('accepts its access tokens, with and without the scope', async () => {
    const client = await verifier.verify(await provider.token());
    expect(client.name).to.equal('nursery');
    expect([...client.permissions]).to.deep.equal(['create plants']);
    expect((await verifier.verify(await provider.token(''))).permissions.size).to.equal(0);
  });

  it('accepts every token while the keys are rotated twice', async () => {
    const [first, second, third] = keys;
    const rotation = [[first, second], [second, first], [second], [second, third], [third, second]];
    let ended = false;
    const accepted: string[] = [];
    const client = async () => {
      while (!ended) {
        const token = await provider.token();
        await verifier.verify(token);
        accepted.push(token);
      }
    };
    const clients = [client(), client(), client()];
    const rotate = async () => {
      for (const [step, published] of rotation.entries()) {
        const target = accepted.length + 10;
        while (accepted.length < target) await verifier.verify(await provider.token());
        now = () => Date.now() + (step + 1) * 10_000;
        provider.use(...published);
      }
      await verifier.verify(await provider.token());
    };
    await rotate().finally(() => {
      ended = true;
    });
    await Promise.all(clients);
    expect(accepted.length).to.be.above(50);
    expect(keyRequests()).to.equal(3);
  });
});
