import { expect } from 'chai';
import { advice } from '../../src/configuration/configuration.js';
import { configured, DIGEST, type Env, JWT, unknown } from '../support/configured.js';

describe('Advice', () => {
  const TIMES = { REQUEST_TIMEOUT_MS: '20000', REQUEST_DEADLINE_MS: '30000' };
  const cases: readonly (readonly [Env, ...string[]])[] = [
    [
      { NODE_ENV: 'production', HOST: '0.0.0.0', STORAGE: 'memory', ...JWT },
      'JWT_SCOPE: not set, so every valid token from the issuer may create plants. Set it to the scope or role that permits it',
    ],
    [
      { NODE_ENV: 'production', MONGODB_URI: 'mongodb://a', ACCESS_TOKEN_SHA256: DIGEST },
      'HOST: not set, so only programs on this machine can reach the service. Set it to 0.0.0.0 for every address, or to 127.0.0.1 to keep it so',
    ],
    [{ ...JWT, JWT_SCOPE: 'plants', HOME: '1', MONGO_URL: 'a', PGHOST: 'a', DATABASE_URL: 'a' }],
    [
      { MAX_IN_FLIGT: '5', log_level: 'debug', LOGFORMAT: 'x', HOST_FILE: 'a' },
      unknown('MAX_IN_FLIGT', 'MAX_IN_FLIGHT'),
      unknown('log_level', 'LOG_LEVEL'),
      unknown('LOGFORMAT', 'LOG_FORMAT'),
      unknown('HOST_FILE', 'HOST'),
    ],
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
  ];

  for (const [env, ...expected] of cases) {
    it(`is ${expected.length ? 'given' : 'not given'}: ${JSON.stringify(env).slice(0, 99)}`, async () => {
      expect(advice(await configured(env))).to.deep.equal(expected);
    });
  }
});
