import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { type FakeIssuer, startEach } from './support/fake-issuer.js';

/** A token as a provider sends it, and the settings for it in docs/authentication.md. */
interface Shape {
  readonly audience: string;
  readonly scope?: string;
  readonly path?: string;
  readonly typ?: string | undefined;
  readonly claims: Record<string, unknown>;
}

const SCOPE = 'plants:create';
const API = 'https://plants.example';
const CLIENT = 'client-1';

const accepted: Readonly<Record<string, Shape>> = {
  Keycloak: {
    audience: 'plants',
    scope: SCOPE,
    path: '/realms/garden',
    claims: { aud: ['plants', 'account'], typ: 'Bearer', azp: 'nursery', scope: `email ${SCOPE}` },
  },
  'Keycloak with realm roles in a flat claim': {
    audience: 'plants',
    scope: 'gardener',
    path: '/realms/garden',
    claims: { aud: 'plants', typ: 'Bearer', azp: 'nursery', scope: 'email', roles: ['gardener'] },
  },
  'Auth0 for a machine': {
    audience: API,
    scope: SCOPE,
    path: '/',
    claims: { aud: API, azp: CLIENT, scope: SCOPE, gty: 'client-credentials' },
  },
  'Auth0 for a user, with RBAC': {
    audience: API,
    scope: SCOPE,
    path: '/',
    claims: {
      aud: [API, 'https://tenant.eu.auth0.com/userinfo'],
      azp: CLIENT,
      scope: 'openid profile',
      permissions: [SCOPE],
    },
  },
  'Entra ID v2, delegated': {
    audience: 'app-id',
    scope: 'Plants.Create',
    path: '/tenant/v2.0',
    claims: { aud: 'app-id', azp: CLIENT, azpacr: '1', scp: 'Plants.Create', ver: '2.0' },
  },
  'Entra ID v2, client credentials': {
    audience: 'app-id',
    scope: 'Plants.Create',
    path: '/tenant/v2.0',
    claims: { aud: 'app-id', azp: CLIENT, azpacr: '1', roles: ['Plants.Create'], ver: '2.0' },
  },
  'Entra ID v1, delegated': {
    audience: 'api://app-id',
    scope: 'Plants.Create',
    path: '/tenant/',
    claims: { aud: 'api://app-id', appid: CLIENT, scp: 'Plants.Create', ver: '1.0' },
  },
  'Entra ID v1, client credentials': {
    audience: 'api://app-id',
    scope: 'Plants.Create',
    path: '/tenant/',
    claims: { aud: 'api://app-id', appid: CLIENT, roles: ['Plants.Create'], ver: '1.0' },
  },
  'Amazon Cognito': {
    audience: CLIENT,
    scope: 'plants/create',
    path: '/eu-west-1_pool',
    typ: undefined,
    claims: { client_id: CLIENT, token_use: 'access', scope: 'plants/create', version: 2 },
  },
  Okta: {
    audience: 'api://default',
    scope: SCOPE,
    path: '/oauth2/default',
    typ: undefined,
    claims: { ver: 1, aud: 'api://default', cid: CLIENT, scp: [SCOPE, 'openid'] },
  },
  'WorkOS Connect': {
    audience: 'client-of-the-environment',
    scope: SCOPE,
    claims: { aud: 'client-of-the-environment', client_id: CLIENT, org_id: 'org', scope: SCOPE },
  },
  'WorkOS sessions, with a JWT template': {
    audience: API,
    scope: SCOPE,
    path: '/user_management/client-1',
    claims: { aud: API, sid: 'session', org_id: 'org', role: 'member', permissions: [SCOPE] },
  },
  'Clerk for a session': {
    audience: 'https://app.example',
    claims: { azp: 'https://app.example', sid: 'session', v: 2, fva: [1, -1] },
  },
  'Clerk OAuth applications': {
    audience: CLIENT,
    scope: SCOPE,
    typ: 'at+jwt',
    claims: { client_id: CLIENT, scope: `openid ${SCOPE}` },
  },
  'Ory Hydra without an audience': {
    audience: CLIENT,
    scope: SCOPE,
    path: '/',
    claims: { aud: [], client_id: CLIENT, ext: {}, scp: [SCOPE] },
  },
  'Ory Hydra with an audience': {
    audience: API,
    scope: SCOPE,
    path: '/',
    claims: { aud: [API], client_id: CLIENT, ext: {}, scp: [SCOPE] },
  },
};

const refused: Readonly<Record<string, Shape & { readonly message: string }>> = {
  'access token for another app client of Amazon Cognito': {
    audience: CLIENT,
    typ: undefined,
    message: 'the token is for another audience',
    claims: { client_id: 'client-2', token_use: 'access' },
  },
  'ID token of Amazon Cognito': {
    audience: CLIENT,
    typ: undefined,
    message: 'the token is not an access token',
    claims: { aud: CLIENT, token_use: 'id' },
  },
  'ID token of a Google user': {
    audience: CLIENT,
    message: 'the token is not an access token',
    claims: { azp: CLIENT, aud: CLIENT, at_hash: 'MTIz', email: 'gardener@example.com' },
  },
  'session token of Clerk for another app': {
    audience: 'https://app.example',
    message: 'the token is for another audience',
    claims: { azp: 'https://other.example', sid: 'session' },
  },
};

describe('A token as an identity provider issues it', () => {
  let issuer: FakeIssuer;

  startEach((started) => (issuer = started), 'RS256');

  const verify = async ({ audience, scope, path = '', claims, ...header }: Shape) => {
    const iss = `${issuer.url}${path}`;
    const jwksUrl = `${issuer.url}/jwks`;
    const scopes = { 'create plants': scope };
    const verifier = issuer.verifier({ issuer: iss, jwksUrl, audience, scopes });
    const typ = 'typ' in header ? header.typ : 'JWT';
    return verifier.verify(await issuer.token({ iss, aud: undefined, ...claims }, { typ }));
  };

  for (const [provider, shape] of Object.entries(accepted)) {
    it(`may create plants: ${provider}`, async () => {
      const client = await verify(shape);
      expect([...client.permissions]).to.include('create plants');
    });
  }

  for (const [what, { message, ...shape }] of Object.entries(refused)) {
    it(`is refused: ${what}`, async () => {
      await rejects(verify(shape), { message });
    });
  }
});
