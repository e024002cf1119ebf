// An OpenID provider for trials of signed tokens: see docs/authentication.md. Its key is lost when it stops.
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

const issuer = process.argv[2] ?? 'http://127.0.0.1:9000';
const { hostname, port } = new URL(issuer);
const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const key = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' };

new Provider(issuer, {
  jwks: { keys: [key] },
  clients: [
    {
      client_id: 'nursery',
      client_secret: 'for-trying-out',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({
        scope: 'plants:create',
        audience: 'https://plants.example',
        accessTokenFormat: 'jwt',
      }),
    },
  },
}).listen(Number(port), hostname);
