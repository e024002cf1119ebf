import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { type Adapter } from 'oidc-provider';
import { LoopbackServer } from './loopback-server.js';

/** The audience of the tokens of an {@link OidcIssuer}. */
export const AUDIENCE = 'https://plants.example';
/** The default scope of these tokens. */
export const SCOPE = 'plants:create';

/** The only client of an issuer. */
const CLIENT = { client_id: 'nursery', client_secret: 'only-used-in-tests' };

/** A new key for RS256, with its private half. */
export async function signingKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

/** Signed access tokens are not stored, so the provider needs no database. */
class NoStore implements Adapter {
  async upsert() {}
  async consume() {}
  async destroy() {}
  async revokeByGrantId() {}
  async find() {
    return undefined;
  }
  async findByUid() {
    return undefined;
  }
  async findByUserCode() {
    return undefined;
  }
}

/** A real OpenID Connect provider with one client, `nursery`. */
export class OidcIssuer extends LoopbackServer {
  /** Publishes this key, and signs with it. */
  static async start(key: JWK): Promise<OidcIssuer> {
    const issuer = new OidcIssuer();
    await issuer.listen();
    const provider = new Provider(issuer.url, {
      adapter: NoStore,
      ttl: { ClientCredentials: 600 },
      jwks: { keys: [key] },
      clients: [
        { ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
      ],
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: SCOPE,
            audience: AUDIENCE,
            accessTokenFormat: 'jwt',
          }),
        },
      },
    });
    issuer.handler = provider.callback();
    return issuer;
  }

  /** Resolves with a signed access token for {@link AUDIENCE}. `''` as the scope means none. */
  async token(scope = SCOPE): Promise<string> {
    const response = await fetch(`${this.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${CLIENT.client_id}:${CLIENT.client_secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope }),
    });
    const { access_token: token } = (await response.json()) as { access_token?: unknown };
    if (typeof token !== 'string') throw new Error(`no token, but status ${response.status}`);
    return token;
  }
}
