import { readConfiguration } from '../../src/configuration/configuration.js';
import { ConfigurationError } from '../../src/configuration/setting.js';

export const DIGEST = 'a'.repeat(64);
export const JWT = { JWT_ISSUER: 'https://login.example.com', JWT_AUDIENCE: 'plants' };

/** Values that no variable of this name takes. */
export const invalid: readonly [variable: string, value: string][] = [
  ['PORT', '3000.5'],
  ['PORT', '0x10'],
  ['PORT', ' 3000'],
  ['HOST', 'a host'],
  ['BASE_PATH', ''],
  ['BASE_PATH', 'store'],
  ['BASE_PATH', '/store/'],
  ['BASE_PATH', '/:store'],
  ['STORAGE', 'disk'],
  ['MAX_IN_FLIGHT', '1e3'],
  ['LOG_LEVEL', 'loud'],
  ['LOG_FORMAT', 'xml'],
  ['NODE_ENV', ''],
  ['HOST', '127.0.0.1:3000'],
  ['HOST', '256.0.0.1'],
  ['BASE_PATH', '/..'],
  ['HOST', '1.2.3'],
  ['NODE_ENV', 'prod'],
  ['NODE_ENV', 'Production'],
  ['MONGODB_URI', ''],
  ['MONGODB_URI', 'postgres://a'],
  ['MONGODB_URI', 'mongodb://a\n'],
  ['POSTGRESQL_URI', 'mongodb://a'],
  ['ACCESS_TOKEN_SHA256', ''],
  ['ACCESS_TOKEN_SHA256', `${DIGEST}\n`],
  ['ACCESS_TOKENS_FILE', ''],
  ['TRUSTED_PROXIES', ''],
  ['TRUSTED_PROXIES', 'a-proxy'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['DOCS', 'yes'],
  ['MANAGEMENT_PORT', 'on'],
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
