import { expect } from 'chai';
import { advice } from '../../src/configuration/configuration.js';
import {
  configured,
  DIGEST,
  type Env,
  FORGETS,
  JWT,
  STORES,
  unknown,
} from '../support/configured.js';

describe('Advice', () => {
  const TIMES = { REQUEST_TIMEOUT_MS: '20000', REQUEST_DEADLINE_MS: '30000' };
  const cases: readonly (readonly [Env, ...string[]])[] = [
    [
      { NODE_ENV: 'production', STORAGE: 'memory', ...JWT },
      `STORAGE: memory, so ${FORGETS}. Set ${STORES} to keep them`,
      'JWT_SCOPE: not set, so every valid token from the issuer may create plants. Set it to the scope or role that permits it',
    ],
    [{ ...JWT, JWT_SCOPE: 'plants', SHUTDOWN_DELAY: '1', HOME: '1' }],
    [{ MONGODB_URI: 'mongodb://a', REQUEST_DEADLINE_MS: '12000' }],
    [
      { MONGODB_URI: 'mongodb://a', REQUEST_DEADLINE_MS: '11999' },
      'REQUEST_DEADLINE_MS: creates fail during a failover, because a replica set with default settings takes up to 11 s to elect a primary. Set it to 12000 or more',
    ],
    [{ ...TIMES, SHUTDOWN_TIMEOUT_MS: '51000' }],
    [
      { ...TIMES, SHUTDOWN_TIMEOUT_MS: '50999' },
      'SHUTDOWN_TIMEOUT_MS: a shutdown may cut off requests, which can take up to 51000 ms (REQUEST_TIMEOUT_MS + REQUEST_DEADLINE_MS + 1000 ms). Set it to 51000 or more',
    ],
    ...['MONGO_URL', 'MONGODB_ADDON_URI', 'SPRING_DATA_MONGODB_URI'].map((name): [Env, string] => [
      { [name]: 'mongodb://a' },
      unknown(name, 'MONGODB_URI'),
    ]),
    ...['POSTGRES_URL', 'POSTGRES_PRISMA_URL', 'AZURE_POSTGRESQL_CONNECTIONSTRING'].map(
      (name): [Env, string] => [{ [name]: 'postgres://a' }, unknown(name, 'POSTGRESQL_URI')],
    ),
    ...['DATABASE_URL', 'DATABASE_URL_UNPOOLED', 'DB_URL'].map((name): [Env, string] => [
      { [name]: 'a' },
      unknown(name, 'MONGODB_URI or POSTGRESQL_URI'),
    ]),
    [
      { PGHOST: 'a', MONGOHOST: 'a', DB_HOST: 'a', PGUSER: 'a', PGDATABASE: 'a' },
      'PGHOST: unknown variable. Set POSTGRESQL_URI instead',
      'MONGOHOST: unknown variable. Set MONGODB_URI instead',
      'DB_HOST: unknown variable. Set MONGODB_URI or POSTGRESQL_URI instead',
    ],
    [{ STORAGE: 'memory', MONGO_URL: 'mongodb://a', PGHOST: 'a' }],
    [{ GHOST: 'a' }, unknown('GHOST', 'HOST')],
    [
      { POST: 'a', DOC: 'a', ACCESS_TOKEN_SHA265: 'a', ACCESS_TOKEN_SHA256: DIGEST },
      unknown('POST', 'HOST'),
      unknown('DOC', 'DOCS'),
      unknown('ACCESS_TOKEN_SHA265', 'ACCESS_TOKEN_SHA256'),
    ],
  ];

  for (const [env, ...expected] of cases) {
    it(`is complete sentences, for ${JSON.stringify(env)}`, async () => {
      expect(advice(await configured(env), 10_100)).to.deep.equal(expected);
    });
  }
});
