import { readConfiguration } from '../../src/configuration/configuration.js';
import { ConfigurationError } from '../../src/configuration/configuration-error.js';

export const DIGEST = 'a'.repeat(64);
export const JWT = { JWT_ISSUER: 'https://login.example.com', JWT_AUDIENCE: 'plants' };

/** Values that no variable of this name takes. */
export const invalid: readonly [variable: string, value: string][] = [
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '3000.5'],
  ['PORT', '0x10'],
  ['PORT', ' 3000'],
  ['HOST', ''],
  ['HOST', 'a host'],
  ['BASE_PATH', ''],
  ['BASE_PATH', 'store'],
  ['BASE_PATH', '/store/'],
  ['BASE_PATH', '/:store'],
  ['STORAGE', 'disk'],
  ['BODY_LIMIT', '0'],
  ['MAX_IN_FLIGHT', '1e3'],
  ['REQUEST_DEADLINE_MS', '0'],
  ['LOG_LEVEL', 'loud'],
  ['LOG_FORMAT', 'xml'],
  ['NODE_ENV', ''],
  ['HOST', '127.0.0.1:3000'],
  ['HOST', '256.0.0.1'],
  ['BASE_PATH', '/..'],
  ['HOST', '1.2.3'],
  ['PORT', ''],
  ['PORT', '1e3'],
  ['NODE_ENV', 'prod'],
  ['NODE_ENV', 'Production'],
  ['MONGODB_URI', ''],
  ['MONGODB_URI', 'postgres://a'],
  ['MONGODB_URI', 'mongodb://a\n'],
  ['POSTGRESQL_URI', 'mongodb://a'],
  ['ACCESS_TOKEN_SHA256', ''],
  ['ACCESS_TOKEN_SHA256', `${DIGEST}\n`],
  ['ACCESS_TOKENS_FILE', ''],
  ['DOCS', 'yes'],
  ['MANAGEMENT_PORT', 'on'],
  ['MAX_CONNECTIONS', '0'],
  ['HEADERS_TIMEOUT_MS', '1s'],
  ['REQUEST_TIMEOUT_MS', '-1'],
  ['KEEP_ALIVE_TIMEOUT_MS', 'never'],
  ['SHUTDOWN_DELAY_MS', '-1'],
  ['SHUTDOWN_TIMEOUT_MS', '0'],
  ['LOG_LEVEL', ''],
  ['CORS_ALLOWED_ORIGINS', ''],
  ['CORS_ALLOWED_ORIGINS', '*'],
  ['CORS_ALLOWED_ORIGINS', 'null'],
  ['CORS_ALLOWED_ORIGINS', 'nursery.example'],
  ['CORS_ALLOWED_ORIGINS', 'https://nursery.example/'],
  ['CORS_ALLOWED_ORIGINS', 'https://nursery.example/shop'],
  ['CORS_ALLOWED_ORIGINS', 'https://nursery.example:443'],
  ['CORS_ALLOWED_ORIGINS', 'https://Nursery.example'],
  ['CORS_ALLOWED_ORIGINS', 'https://nursery.example,'],
  ['CORS_ALLOWED_ORIGINS', 'https://a.example,https://a.example'],
  ['CORS_ALLOWED_ORIGINS', 'https://a.example https://b.example'],
  ['CORS_ALLOWED_ORIGINS', 'ftp://nursery.example'],
  ['CORS_ALLOWED_ORIGINS', 'https://gärtnerei.example'],
];

/** Sets of variables that make no configuration, and the one problem that is reported for each. */
export const contradictory: readonly [env: Record<string, string>, problem: RegExp][] = [
  [{ ACCESS_TOKEN_SHA256: 'my-token' }, /^ACCESS_TOKEN_SHA256: token 1: .*64 hexadecimal digits/],
  [{ ACCESS_TOKEN_SHA256: `${DIGEST},` }, /^ACCESS_TOKEN_SHA256: token 2: /],
  [{ ACCESS_TOKENS_FILE: '/no/such/file' }, /^ACCESS_TOKENS_FILE: expected a file .*ENOENT/],
  [{ JWT_ISSUER: 'https://login.example.com' }, /^JWT_AUDIENCE: expected to be set/],
  [{ ...JWT, JWT_ISSUER: 'http://login.example.com' }, /^JWT_ISSUER: expected an https URL/],
  [{ ...JWT, JWKS_URL: 'http://login.example.com' }, /^JWKS_URL: expected an https URL/],
  [
    { ...JWT, JWT_ALGORITHMS: '' },
    /^JWT_ALGORITHMS: expected names of algorithms, .*an empty string/,
  ],
  [
    { ACCESS_TOKENS_FILE: '/no/such/file', JWT_SCOPE: 'plants' },
    /^ACCESS_TOKENS_FILE, JWT_SCOPE: expected only one of /,
  ],
  [{ ...JWT, JWT_ALGORITHMS: 'none' }, /^JWT_ALGORITHMS: expected some of RS256/],
  [{ ...JWT, JWT_ALGORITHMS: 'HS256' }, /^JWT_ALGORITHMS: expected some of RS256/],
  [{ MONGODB_URI: 'mongodb://a:b@c:d:e/?x' }, /^MONGODB_URI: expected a connection string/],
  [{ MANAGEMENT_PORT: '3000' }, /^MANAGEMENT_PORT: expected another port than PORT/],
  [{ HEADERS_TIMEOUT_MS: '20000' }, /^HEADERS_TIMEOUT_MS: expected at most REQUEST_TIMEOUT_MS/],
  [{ ...JWT, JWT_ALGORITHMS: 'RS256,RS256' }, /^JWT_ALGORITHMS: expected some of RS256/],
  [{ ...JWT, JWT_ISSUER: 'login.example.com' }, /^JWT_ISSUER: expected an https URL/],
  [{ ...JWT, JWT_SCOPE: 'plants\n' }, /^JWT_SCOPE: expected a scope, found "plants/],
  [{ ...JWT, JWKS_URL: 'keys' }, /^JWKS_URL: expected an https URL/],
  [{ MONGODB_URI: 'mongodb://a/my%20plants' }, /^MONGODB_URI: .*the name of the database/],
  [{ MONGODB_URI: 'mongodb://a/?tlsCAFile=/no' }, /^MONGODB_URI: .*tlsCAFile/],
  [{ MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'a$b' }, /^MONGODB_COLLECTION: expected /],
  [{ MANAGEMENT_HOST: '0.0.0.0' }, /^MANAGEMENT_HOST: expected only with MANAGEMENT_PORT/],
  [{ HOST: '0.0.0.0', MANAGEMENT_PORT: '3000' }, /^MANAGEMENT_PORT: expected another port/],
];

/** Resolves with the problems of a configuration outside of a terminal; with none when it is valid. */
export async function problemsOf(
  env: Record<string, string>,
  read: (env: NodeJS.ProcessEnv, terminal: boolean) => Promise<unknown> = readConfiguration,
): Promise<readonly string[]> {
  try {
    await read(env, false);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}
