import { rejects } from 'node:assert/strict';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { describeTokenVerifier } from '@plant-store/token-verifier-contract';
import {
  type IntrospectionOptions,
  IntrospectionTokenVerifier,
} from '@plant-store/token-verifier-introspection';
import { expect } from 'chai';
import { FakeIssuer } from './fake-issuer.js';

const AUDIENCE = 'https://plants.example';
const GARDENER = 'a-token-of-the-gardener';
const VISITOR = 'a-token-of-a-visitor';
const STRANGER = 'a-token-for-another-service';
const REVOKED = 'a-token-that-was-revoked';

describe('IntrospectionTokenVerifier', () => {
  let issuer: FakeIssuer;
  let network: FaultyNetwork;

  beforeEach(async () => {
    issuer = await FakeIssuer.start();
    network = await FaultyNetwork.before(issuer.port);
    const scope = 'openid plants:create';
    issuer.tokens.set(GARDENER, { active: true, sub: 'gardener', aud: AUDIENCE, scope });
    issuer.tokens.set(VISITOR, { active: true, client_id: 'visitor', aud: ['other', AUDIENCE] });
    issuer.tokens.set(REVOKED, { active: false, sub: 'gardener', aud: AUDIENCE, scope });
    issuer.tokens.set(STRANGER, { active: true, sub: 'stranger', aud: 'other', scope });
  });

  afterEach(async () => {
    await network.close();
    issuer.close();
  });

  const verifier = (options: Partial<IntrospectionOptions> = {}) =>
    new IntrospectionTokenVerifier({
      url: `http://${network.host}/introspect`,
      clientId: 'plant-store',
      clientSecret: 'a secret:',
      audience: AUDIENCE,
      scope: 'plants:create',
      ...options,
    });

  describeTokenVerifier('IntrospectionTokenVerifier', async () => ({
    verifier: verifier(),
    accepted: [
      { token: GARDENER, name: 'gardener', permissions: ['create plants'] },
      { token: VISITOR, name: 'visitor', permissions: [] },
    ],
    refused: { 'a token that was revoked': REVOKED, 'a token for another service': STRANGER },
    secrets: ['a secret:', 'plant-store:a+secret%3A'],
    outage: () => network.cut(),
    stall: async () => network.freeze(),
    async malfunction() {
      issuer.reply = { status: 200, body: `${GARDENER} is not known here` };
    },
    async recover() {
      issuer.reply = undefined;
      await network.restore();
    },
  }));

  it('refuses a token as soon as it is revoked', async () => {
    const tokens = verifier();
    await tokens.verify(GARDENER);
    issuer.tokens.delete(GARDENER);
    await rejects(tokens.verify(GARDENER), InvalidTokenError);
  });

  it('gives a client a name that is fit for log lines', async () => {
    issuer.tokens.set(GARDENER, { active: true, sub: 'a\nb', aud: AUDIENCE });
    expect((await verifier().verify(GARDENER)).name).to.equal('unnamed client');
  });

  const notResponses: Record<string, { status: number; body: string }> = {
    'an error of the issuer': { status: 500, body: '{"active":false}' },
    'a redirect': { status: 302, body: '{"active":true}' },
    'a page': { status: 200, body: '<html>' },
    'another JSON document': { status: 200, body: '{"error":"invalid_request"}' },
    'a word for a boolean': { status: 200, body: '{"active":"false"}' },
  };

  for (const [what, reply] of Object.entries(notResponses)) {
    it(`does not accept ${what} as a response about the token`, async () => {
      issuer.reply = reply;
      await rejects(verifier().verify(GARDENER), TokenVerifierUnavailableError);
      await rejects(verifier().ready(), TokenVerifierUnavailableError);
    });
  }

  it('is unavailable when the issuer does not know the service', async () => {
    const tokens = verifier({ clientSecret: 'wrong' });
    await rejects(tokens.verify(GARDENER), TokenVerifierUnavailableError);
  });

  it('sends no token over an unprotected connection', () => {
    expect(() => verifier({ url: 'http://login.example/introspect' })).to.throw(TypeError);
  });
});
