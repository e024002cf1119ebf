import { expect } from 'chai';
import { settings } from '../../src/configuration/all-settings.js';
import { advice, readConfiguration } from '../../src/configuration/configuration.js';
import { readImportConfiguration } from '../../src/configuration/import-configuration.js';
import { DIGEST, JWT } from './broken-configurations.js';
import { problemsOf } from './problems-of.js';

const DAY = 86_400_000;

/** What the variables with whole numbers accept. */
const LIMITS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  PORT: [0, 65_535],
  MANAGEMENT_PORT: [0, 65_535],
  BODY_LIMIT: [1, 16_000_000],
  MAX_IN_FLIGHT: [1, 1_000_000],
  MAX_CONNECTIONS: [1, 1_000_000],
  REQUEST_DEADLINE_MS: [1, DAY],
  HEADERS_TIMEOUT_MS: [1, DAY],
  REQUEST_TIMEOUT_MS: [1, DAY],
  KEEP_ALIVE_TIMEOUT_MS: [1, DAY],
  SHUTDOWN_DELAY_MS: [0, DAY],
  SHUTDOWN_TIMEOUT_MS: [1, DAY],
};

const HOST = 'a host name or an IP address, without a port';

/** What the other variables expect, in words. */
const EXPECTED: Readonly<Record<string, string>> = {
  NODE_ENV: 'production, or a name that does not begin with "prod"',
  HOST,
  BASE_PATH:
    'a path of letters, digits, ".", "_", "~" and "-" that begins with a slash and does not end with one',
  STORAGE: 'memory or mongodb',
  CORS_ALLOWED_ORIGINS:
    'origins as browsers send them, each once, separated by commas: scheme, host, and the port unless it is the usual one; no path',
  DOCS: 'on or off',
  MANAGEMENT_HOST: HOST,
  LOG_LEVEL: 'debug, info, warn or error',
  LOG_FORMAT: 'json or pretty',
  MONGODB_URI: 'a connection string of MongoDB',
  MONGODB_COLLECTION: 'the name of a collection',
  ACCESS_TOKEN_SHA256: 'SHA-256 digests',
  ACCESS_TOKENS_FILE: 'the path of a file',
  JWT_ISSUER: 'the issuer of tokens',
  JWT_AUDIENCE: 'an audience',
  JWKS_URL: 'a URL',
  JWT_ALGORITHMS: 'names of algorithms, separated by commas',
  JWT_SCOPE: 'a scope',
  ACCESS_TOKEN: 'a bearer token',
};

describe('What a variable expects', () => {
  it('is described for each variable', () => {
    const limits = Object.entries(LIMITS).map(([name, [min, max]]) => [
      name,
      `a whole number from ${min} to ${max}`,
    ]);
    const found = Object.entries(settings).map(([name, { expected }]) => [name, expected]);
    expect(Object.fromEntries(found)).to.deep.equal({ ...EXPECTED, ...Object.fromEntries(limits) });
  });

  for (const [name, [min, max]] of Object.entries(LIMITS)) {
    it(`is ${min} to ${max} for ${name}`, () => {
      for (const value of [min, max]) expect(settings[name]?.parse(`${value}`)).to.equal(value);
      for (const value of [min - 1, max + 1]) {
        expect(settings[name]?.parse(`${value}`), `${value}`).to.equal(undefined);
      }
    });
  }

  it('is met by its example', () => {
    const placeholders = ['ACCESS_TOKEN_SHA256', 'ACCESS_TOKEN'];
    for (const [name, { example, parse }] of Object.entries(settings)) {
      if (!placeholders.includes(name)) expect(parse(example), name).not.to.equal(undefined);
    }
  });

  for (const host of ['::1', '0.0.0.0', 'plants.example', 'db_1', '10.0.0.1']) {
    it(`is met by the host ${host}`, () => {
      expect(settings.HOST?.parse(host)).to.equal(host);
    });
  }
});

const WAYS = 'ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE or JWT_ISSUER with JWT_AUDIENCE';
const FORGETS = 'memory loses every plant when the process ends';
const TOKEN_FIX =
  'Set it to the second line that `plant-store token` prints. Separate several digests by commas';
const FILE_FIX = 'Write a digest and a label on each line of the file: see docs/authentication.md';

describe('A problem of the configuration', () => {
  const cases: readonly (readonly [Record<string, string>, ...string[]])[] = [
    [
      { PORT: 'x' },
      'PORT: expected a whole number from 0 to 65535, found "x". Unset it, or set for example PORT=3000',
    ],
    [
      { PORT: '' },
      'PORT: expected a whole number from 0 to 65535, found an empty string. Unset it, or set for example PORT=3000',
    ],
    [
      { MONGODB_URI: ' mongodb://a' },
      'MONGODB_URI: expected a connection string of MongoDB, found white space around it. Unset it, or set for example MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=rs0',
    ],
    [
      { MONGODB_URI: 'postgres://a' },
      'MONGODB_URI: expected a connection string of MongoDB, found something else. Unset it, or set for example MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=rs0',
    ],
    [
      { STORAGE: 'mongodb' },
      'MONGODB_URI: expected to be set, since STORAGE=mongodb. Set it, or choose another STORAGE',
    ],
    [
      { MONGODB_COLLECTION: 'plants' },
      'MONGODB_URI: expected to be set, since MONGODB_COLLECTION is. Set it, or unset the others',
    ],
    [
      { STORAGE: 'memory', MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'b' },
      'STORAGE: expected mongodb, since MONGODB_URI, MONGODB_COLLECTION is set. Unset one of them',
    ],
    [
      { JWT_AUDIENCE: 'plants', JWT_ALGORITHMS: 'RS256' },
      'JWT_ISSUER: expected to be set, since JWT_AUDIENCE, JWT_ALGORITHMS is. Set it, or unset the others',
    ],
    [
      { ...JWT, ACCESS_TOKEN_SHA256: DIGEST },
      `ACCESS_TOKEN_SHA256, JWT_ISSUER: expected only one of ${WAYS}. Unset the others`,
    ],
    [
      { ...JWT, ACCESS_TOKEN_SHA256: DIGEST, ACCESS_TOKENS_FILE: '/none' },
      `ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE, JWT_ISSUER: expected only one of ${WAYS}. Unset the others`,
    ],
    [
      { ACCESS_TOKEN_SHA256: `${DIGEST},${DIGEST}` },
      `ACCESS_TOKEN_SHA256: token 2: the same digest as in token 1. ${TOKEN_FIX}`,
    ],
    [{ ACCESS_TOKENS_FILE: '/dev/null' }, `ACCESS_TOKENS_FILE: there is no token. ${FILE_FIX}`],
    [
      { ACCESS_TOKENS_FILE: '/' },
      `ACCESS_TOKENS_FILE: expected a file that can be read (EISDIR: illegal operation on a directory, read). ${FILE_FIX}`,
    ],
    [
      { ...JWT, JWT_SCOPE: 'two scopes' },
      'JWT_SCOPE: expected a single scope as in RFC 6749, section 3.3. Correct it, or unset it',
    ],
    [
      { MONGODB_URI: 'mongodb://a/?minPoolSize=17' },
      'MONGODB_URI: expected a connection string of MongoDB (minPoolSize must not be above 16). Correct it',
    ],
    [
      { NODE_ENV: 'production' },
      `STORAGE: expected to be set under NODE_ENV=production, since ${FORGETS}. Set MONGODB_URI, or STORAGE=memory if that is intended`,
      `ACCESS_TOKEN_SHA256: expected to be set under NODE_ENV=production. Set it to <the second line that \`plant-store token\` prints>, or set ACCESS_TOKENS_FILE or JWT_ISSUER with JWT_AUDIENCE`,
    ],
    [{ NODE_ENV: 'production', MONGODB_URI: 'mongodb://a', ACCESS_TOKEN_SHA256: DIGEST }],
    [
      { NODE_ENV: 'production', STORAGE: 'memory', JWT_ISSUER: 'https://login.example.com' },
      'JWT_AUDIENCE: expected to be set, since JWT_ISSUER is. Set it, or unset the others',
    ],
    [
      { NODE_ENV: 'production', ACCESS_TOKEN_SHA256: DIGEST, MONGODB_COLLECTION: 'b' },
      'MONGODB_URI: expected to be set, since MONGODB_COLLECTION is. Set it, or unset the others',
    ],
    [
      { HOST: '::', MANAGEMENT_PORT: '3000' },
      'MANAGEMENT_PORT: expected another port than PORT, since one port takes one listener. Set it to a free one',
    ],
    [
      { MANAGEMENT_HOST: '::', MANAGEMENT_PORT: '3000' },
      'MANAGEMENT_PORT: expected another port than PORT, since one port takes one listener. Set it to a free one',
    ],
    [{ MANAGEMENT_HOST: '127.0.0.2', MANAGEMENT_PORT: '3000' }],
    [{ PORT: '0', MANAGEMENT_PORT: '0' }],
    [{ HEADERS_TIMEOUT_MS: '15000' }],
    [{ HEADERS_TIMEOUT_MS: '20000', REQUEST_TIMEOUT_MS: '20000' }],
  ];

  for (const [env, ...expected] of cases) {
    it(`has a complete message, for ${JSON.stringify(env)}`, async () => {
      expect(await problemsOf(env)).to.deep.equal(expected);
    });
  }

  const token = { ACCESS_TOKEN: 'a', ACCESS_TOKEN_SHA256: DIGEST };
  const noStorage = `STORAGE: expected to be set for an import, since ${FORGETS}. Set MONGODB_URI, or STORAGE=memory to check a file without keeping its plants`;
  const noVerifier = `ACCESS_TOKEN: expected a way to verify it. Set ${WAYS} as for the service`;
  const noToken =
    'ACCESS_TOKEN: expected to be set, since only an authenticated client creates plants. Set it to a bearer token that the service accepts';
  const invalidToken =
    'ACCESS_TOKEN: expected a bearer token, found an empty string. Unset it, or set for example ACCESS_TOKEN=<the first line that `plant-store token` prints>';

  const imports: typeof cases = [
    [{}, noStorage, noVerifier, noToken],
    [{ STORAGE: 'memory' }, noVerifier, noToken],
    [{ STORAGE: 'memory', ...token }],
    [{ MONGODB_URI: 'mongodb://a', ...token }],
    [{ ...token }, noStorage],
    [{ STORAGE: 'memory', ACCESS_TOKEN: 'a' }, noVerifier],
    [{ STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST }, noToken],
    [{ ACCESS_TOKEN: '' }, invalidToken, noStorage, noVerifier],
  ];

  for (const [env, ...expected] of imports) {
    it(`has a complete message for an import, for ${JSON.stringify(env)}`, async () => {
      expect(await problemsOf(env, readImportConfiguration)).to.deep.equal(expected);
    });
  }
});

describe('Advice', () => {
  const advised = async (env: Record<string, string>) =>
    advice(await readConfiguration(env, false));

  it('is complete sentences', async () => {
    const production = { NODE_ENV: 'production', STORAGE: 'memory' };
    expect(await advised({ ...production, ...JWT })).to.deep.equal([
      `STORAGE: ${FORGETS}. Set MONGODB_URI to keep plants`,
      'JWT_SCOPE: it is not set, so every valid token of the issuer permits creating plants. Set it to the scope that permits it',
    ]);
    const hasty = { MONGODB_URI: 'mongodb://a', REQUEST_DEADLINE_MS: '5000' };
    expect(await advised({ ...hasty, ...JWT, JWT_SCOPE: 'plants' })).to.deep.equal([
      'REQUEST_DEADLINE_MS: creates fail during a failover, since a replica set with default settings takes up to 11 s to elect a primary. Set it to 12000 or more',
    ]);
  });
});

describe('A chosen adapter', () => {
  it('has a name, variables, and whether it reports reachability', async () => {
    const { storage, verifier } = await readConfiguration(
      { MONGODB_URI: 'mongodb://a', ...JWT },
      false,
    );
    expect(storage).to.include({
      ...{ name: 'mongodb', note: 'mongodb (collection plants)', variables: 'MONGODB_URI' },
      reportsReachability: true,
    });
    expect(verifier).to.include({ name: 'jwt', variables: 'JWT_ISSUER, JWKS_URL' });
  });

  it('has no variables when it is memory or a list of tokens', async () => {
    const { storage, verifier } = await readConfiguration({ ACCESS_TOKEN_SHA256: DIGEST }, false);
    expect(storage).to.include({
      name: 'memory',
      note: 'memory (plants are lost when the process ends)',
    });
    expect(verifier).to.include({ name: 'static' });
    for (const adapter of [storage, verifier]) expect(adapter).not.to.have.property('variables');
  });
});
