import { expect } from 'chai';
import { type FakeIssuer, startEach } from './support/fake-issuer.js';

const SCOPE = 'plants:create';
const API = 'https://plants.example';
const CLIENT = 'client-1';

/** What a provider sends that differs from the others, and the settings for it in docs/identity-providers.md. */
type Shape = [audience: string, scope: string | undefined, typ: string | undefined, claims: object];

const SHAPES: Readonly<Record<string, Shape>> = {
  Keycloak: [API, SCOPE, 'JWT', { aud: [API, 'account'], typ: 'Bearer', scope: `email ${SCOPE}` }],
  'Auth0 with RBAC': [API, SCOPE, 'JWT', { aud: [API], scope: 'openid', permissions: [SCOPE] }],
  'Entra ID, delegated': [API, SCOPE, 'JWT', { aud: API, azpacr: '1', scp: SCOPE, ver: '2.0' }],
  'Entra ID, client credentials': [API, SCOPE, 'JWT', { aud: API, azp: CLIENT, roles: [SCOPE] }],
  Cognito: [CLIENT, SCOPE, undefined, { client_id: CLIENT, token_use: 'access', scope: SCOPE }],
  Okta: [API, SCOPE, undefined, { ver: 1, aud: API, cid: CLIENT, scp: [SCOPE, 'openid'] }],
  WorkOS: [API, SCOPE, 'JWT', { aud: API, sid: 'session', role: 'member', permissions: [SCOPE] }],
  'Clerk for a session': [API, undefined, 'JWT', { azp: API, sid: 'session', fva: [1, -1] }],
  'Clerk OAuth applications': [CLIENT, SCOPE, 'at+jwt', { client_id: CLIENT, scope: SCOPE }],
  'Ory Hydra': [CLIENT, SCOPE, 'JWT', { aud: [], client_id: CLIENT, ext: {}, scp: [SCOPE] }],
};

describe('A token as an identity provider issues it', () => {
  let issuer: FakeIssuer;

  startEach((started) => (issuer = started), 'RS256');

  for (const [provider, [audience, scope, typ, claims]] of Object.entries(SHAPES)) {
    it(`may create plants: ${provider}`, async () => {
      const [iss, jwksUrl] = [`${issuer.url}/realms/garden/`, `${issuer.url}/jwks`];
      const scopes = { 'create plants': scope };
      const verifier = issuer.verifier({ issuer: iss, jwksUrl, audience, scopes });
      const token = await issuer.token({ iss, aud: undefined, ...claims }, { typ });
      expect([...(await verifier.verify(token)).permissions]).to.include('create plants');
    });
  }
});
