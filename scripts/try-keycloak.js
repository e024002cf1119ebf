// Tries the settings for Keycloak in docs/authentication.md with a real one, on loopback. Build first, then:
//
//   node scripts/try-keycloak.js <folder>
//
// The folder is the unpacked zip of org.keycloak:keycloak-quarkus-dist, from Maven. It needs Java 17 or later, and a
// minute or two to start. The script ends at the first thing that is not as the page says.
import { deepEqual, equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

const [folder] = process.argv.slice(2);
const PORT = 8180;
const KEYCLOAK = `http://127.0.0.1:${PORT}`;
const PASSWORD = 'for-trying-out';
const TOKENS = '/protocol/openid-connect/token';

/** Starts a program. Resolves with it when it has printed a text. */
async function start(command, args, env, text) {
  const program = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => program.kill());
  let output = '';
  program.stdout.on('data', (chunk) => (output += chunk));
  while (!output.includes(text)) {
    if (program.exitCode !== null) throw new Error(`${command} ended: ${output}`);
    await wait(100);
  }
  return { linesWith: (part) => output.split('\n').filter((line) => line.includes(part)) };
}

async function bodyOf(response) {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${response.url}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

async function tokenOf(realm, fields, keycloak = KEYCLOAK) {
  const body = new URLSearchParams(fields);
  const response = await fetch(`${keycloak}/realms/${realm}${TOKENS}`, { method: 'POST', body });
  return (await bodyOf(response)).access_token;
}

/** Calls the administration of Keycloak. Resolves with the id of what was created, or with the response. */
async function administer(method, path, body) {
  const login = { grant_type: 'password', client_id: 'admin-cli', username: 'admin' };
  const token = await tokenOf('master', { ...login, password: PASSWORD });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${KEYCLOAK}/admin/realms${path}`, request);
  return response.headers.get('location')?.split('/').at(-1) ?? bodyOf(response);
}

const addKey = (providerId, priority, config = {}) =>
  administer('POST', '/plants/components', {
    name: `${providerId} ${priority}`,
    providerId,
    providerType: 'org.keycloak.keys.KeyProvider',
    config: { priority: [`${priority}`], enabled: ['true'], active: ['true'], ...config },
  });

const partOf = (token, at) => JSON.parse(Buffer.from(token.split('.')[at], 'base64url'));

const nursery = { client_id: 'nursery', client_secret: PASSWORD, grant_type: 'client_credentials' };
const newToken = (fields = {}, keycloak = KEYCLOAK) =>
  tokenOf('plants', { ...nursery, ...fields }, keycloak);

let id = 0;
async function statusOf(token) {
  const response = await fetch('http://127.0.0.1:3180/plants', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: ++id, name: 'Monstera' }),
  });
  await response.arrayBuffer();
  return response.status;
}

await start(
  `${folder}/bin/kc.sh`,
  ['start-dev', '--db=dev-mem', '--http-host=127.0.0.1', `--http-port=${PORT}`],
  { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD },
  'Listening on',
);
await administer('POST', '', { realm: 'plants', enabled: true });
const scope = await administer('POST', '/plants/client-scopes', {
  name: 'plants:create',
  protocol: 'openid-connect',
  attributes: { 'include.in.token.scope': 'true' },
});
const mapper = {
  name: 'audience',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { 'included.custom.audience': 'plant-store', 'access.token.claim': 'true' },
};
const mappers = `/plants/client-scopes/${scope}/protocol-mappers/models`;
mapper.id = await administer('POST', mappers, mapper);
const client = await administer('POST', '/plants/clients', {
  clientId: 'nursery',
  secret: PASSWORD,
  serviceAccountsEnabled: true,
});

const service = await start(
  process.execPath,
  ['packages/app/bin/plant-store.js'],
  {
    STORAGE: 'memory',
    JWT_ISSUER: `${KEYCLOAK}/realms/plants`,
    JWT_AUDIENCE: 'plant-store',
    JWT_SCOPE: 'plants:create',
    JWT_NAME_CLAIM: 'azp',
    LOG_LEVEL: 'debug',
    PORT: '3180',
  },
  '"listening"',
);

await administer('PUT', `/plants/clients/${client}/optional-client-scopes/${scope}`);
equal(await statusOf(await newToken()), 401, 'an optional scope must be requested');
equal(await statusOf(await newToken({ scope: 'plants:create' })), 200);
await administer('DELETE', `/plants/clients/${client}/optional-client-scopes/${scope}`);
await administer('PUT', `/plants/clients/${client}/default-client-scopes/${scope}`);
equal(await statusOf(await newToken()), 200, 'a default scope is in each token');
while (service.linesWith('"client":"nursery"').length < 2) await wait(100);
equal(await statusOf(await newToken({}, `http://localhost:${PORT}`)), 401, 'another `iss`');

const lightweight = { 'client.use.lightweight.access.token.enabled': 'true' };
const settings = await administer('GET', `/plants/clients/${client}`);
const attributes = { ...settings.attributes, ...lightweight };
await administer('PUT', `/plants/clients/${client}`, { ...settings, attributes });
equal(await statusOf(await newToken()), 401, 'a lightweight token has no `aud` by itself');
mapper.config['lightweight.claim'] = 'true';
await administer('PUT', `${mappers}/${mapper.id}`, mapper);
equal(await statusOf(await newToken()), 200);

const [, claims, signature] = (await newToken()).split('.');
let isForging = true;
const forging = (async () => {
  for (let kid = 0; isForging; kid += 1) {
    const header = Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid: `${kid}` }));
    equal(await statusOf(`${header.toString('base64url')}.${claims}.${signature}`), 401);
  }
})();
const rotated = [];
for (let priority = 200; priority < 205; priority += 1) {
  await addKey('rsa-generated', priority);
  rotated.push(await statusOf(await newToken()));
}
isForging = false;
await forging;
deepEqual(rotated, [200, 200, 200, 200, 200], 'five rotations among forged `kid`s');

await addKey('eddsa-generated', 300, { eddsaEllipticCurveKey: ['Ed448'] });
await addKey('eddsa-generated', 301, { eddsaEllipticCurveKey: ['Ed25519'] });
await addKey('rsa-generated', 302, { algorithm: ['PS256'] });
await addKey('ecdsa-generated', 303);
const realm = await administer('GET', '/plants');
for (const defaultSignatureAlgorithm of ['EdDSA', 'PS256', 'ES256']) {
  await administer('PUT', '/plants', { ...realm, defaultSignatureAlgorithm });
  const token = await newToken();
  equal(partOf(token, 0).alg, defaultSignatureAlgorithm);
  equal(await statusOf(token), 200, defaultSignatureAlgorithm);
}
process.stdout.write('Keycloak works as docs/authentication.md describes\n');
process.exit();
