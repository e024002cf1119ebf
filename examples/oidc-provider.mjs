// An OpenID provider for trials of signed tokens. Its key is lost when it stops. After `npm ci`, in the root of this project:
//
//   node examples/oidc-provider.mjs
//
// In a second terminal, the service:
//
//   JWT_ISSUER=http://127.0.0.1:9000 JWT_AUDIENCE=https://plants.example JWT_SCOPE=plants:create npm start
//
// In a third one, a token and a plant:
//
//   TOKEN=$(curl -s -u nursery:for-trying-out http://127.0.0.1:9000/token \
//     -d grant_type=client_credentials -d resource=https://plants.example -d scope=plants:create |
//     node -p 'JSON.parse(require("fs").readFileSync(0)).access_token')
//   curl -i http://127.0.0.1:3000/plants -H "Authorization: Bearer $TOKEN" \
//     -H 'Content-Type: application/json' -d '{"id": 1, "name": "Monstera"}'
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
