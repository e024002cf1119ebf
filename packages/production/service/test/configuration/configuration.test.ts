import { readFileSync } from 'node:fs';
import { sha256 } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { readConfiguration, settings } from '../../src/configuration/configuration.js';
import {
  configured,
  configuredAsClient,
  DIGEST,
  type Env,
  FORGETS,
  ISSUER,
  JWT,
  problemsOf,
  STORES,
  unknown,
} from '../support/configured.js';
import { newFiles } from '../support/plant-files.js';

describe('The configuration', () => {
  const PRODUCTION = { NODE_ENV: 'production', STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
  for (const [what, env, expected] of [
    ['defaults to a service on port 3000 with docs', {}, { PORT: 3000, DOCS: 'on' }],
    ['turns off the docs page in production', PRODUCTION, { DOCS: 'off', LOG_FORMAT: 'json' }],
    ['turns on the docs page if DOCS=on', { ...PRODUCTION, DOCS: 'on' }, { DOCS: 'on' }],
  ] as const) {
    it(what, async () => {
      expect(await readConfiguration(env)).to.include(expected);
    });
  }
});

/** Returns the beginning of an environment, for a title. */
const shown = (env: Env) => JSON.stringify(env).slice(0, 90);

/** Names of variables that begin like a setting, and belong to other programs. */
const OF_OTHERS =
  'NODE_EXE NODE_OPTIONS LOG_LABEL BASE_DATA PUBLIC_ARN CORS_ORIGIN JWT_SECRET MONGODB_ROOT_PASSWORD MONGODB_PORT_27017_TCP_ADDR POSTGRESQL_ADDON_URI POSTGRESQL_BIN';
/** Names that resemble a setting, which choose nothing else together with the settings. */
const NEAR =
  'MONGODB_URL MONGODB_COLLECTIONS postgresql_uri NODE_ENVS ACCESS_TOKEN_SHA265 JWT_SCOPES PORT_FILE';
const named = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, 'a']));
const STATIC = { ACCESS_TOKEN_SHA256: DIGEST };

/** Environments without a problem. */
const VALID: readonly Env[] = [
  { STORAGE: 'postgresql', POSTGRESQL_URI: 'postgres://a:b@c:5432/d?sslmode=verify-full' },
  { PUBLIC_URL: 'https://plants.example.com/garden', BASE_PATH: '/store' },
  named(OF_OTHERS),
  { NODE_ENV: 'test', POSTGRESQL_URI: 'postgres://a:b@c/d', ...STATIC, ...named(NEAR) },
  { NODE_ENV: 'staging', STORAGE: 'memory', ...JWT },
  { MANAGEMENT_HOST: '127.0.0.2', MANAGEMENT_PORT: '3000' },
  { NODE_ENV: 'production', MONGODB_URI: 'mongodb://a', ...STATIC },
];

describe('A valid configuration', () => {
  for (const env of VALID) {
    it(`is accepted: ${shown(env)}`, async () => {
      expect(await problemsOf(env)).to.deep.equal([]);
    });
  }

  it('is accepted if everything is set for an import or export', async () => {
    const env = { STORAGE: 'memory', ACCESS_TOKEN: 'a', ACCESS_TOKEN_SHA256: DIGEST };
    expect(await problemsOf(env, configuredAsClient)).to.deep.equal([]);
  });
});

describe('An invalid configuration', () => {
  const NO_STORE = `STORAGE: not set. Set ${STORES}, or STORAGE=memory (${FORGETS})`;
  const NO_VERIFIER = `ACCESS_TOKENS_FILE: not set, and no other token verifier is configured. Set ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE or JWT_ISSUER with JWT_AUDIENCE`;
  const UNVERIFIED =
    'ACCESS_TOKEN: set, but nothing verifies it. Set ACCESS_TOKEN_SHA256 to its digest, which `printf %s "$ACCESS_TOKEN" | sha256sum` prints, or set another way to verify tokens';
  const HTTPS = 'must be an https URL, or an http URL on the loopback interface, without a user';
  const FRAGMENT = 'fragment. Correct or unset it';
  const SCOPE = 'must be a single scope (RFC 6749, section 3.3). Correct or unset it';
  const HEADERS =
    'HEADERS_TIMEOUT_MS: must be at most REQUEST_TIMEOUT_MS, because the headers are part of the request. Lower it or raise REQUEST_TIMEOUT_MS';
  const NO_MANAGEMENT =
    'MANAGEMENT_HOST: has no effect without MANAGEMENT_PORT. Set MANAGEMENT_PORT or unset MANAGEMENT_HOST';
  const SAME_PORT =
    'MANAGEMENT_PORT: must differ from PORT, because two listeners cannot share a port. Set it to a free port';
  const one = (variable: string, since: string) =>
    `${variable}: required because ${since} set. Set it, or unset the others`;

  const notUri = (found: string) =>
    `MONGODB_URI: must be a MongoDB connection string, got ${found}. Example: MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=plants`;
  const unreadable = (variable: string) =>
    `${variable}: cannot read the file (ENOENT: no such file or directory). Correct the path or the permissions`;

  type Row = readonly [env: Env, ...problems: [string, ...string[]]];
  const cases: readonly Row[] = [
    [
      { MONGODB_URI: ' mongodb://a' },
      notUri('a value that is not shown, with white space or quotes around it'),
    ],
    [{ MONGODB_URI_FILE: '/none' }, unreadable('MONGODB_URI_FILE')],
    [
      { MONGODB_URI: 'mongodb://a', MONGODB_URI_FILE: '/none' },
      'MONGODB_URI, MONGODB_URI_FILE: both are set. Unset one of them',
    ],
    [
      { STORAGE: 'memory', MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'b' },
      'STORAGE, MONGODB_URI, MONGODB_COLLECTION: these choose more than one database or token verifier (STORAGE for memory; MONGODB_URI, MONGODB_COLLECTION for mongodb). Keep one and unset the others',
    ],
    [
      { DOCS: 'x', STORAGE: 'mongodb', JWT_ISSUER: ISSUER, JWT_SCOPE: 'a' },
      'DOCS: must be on or off, got "x". Example: DOCS=on',
      one('MONGODB_URI', 'STORAGE is'),
      one('JWT_AUDIENCE', 'JWT_ISSUER, JWT_SCOPE are'),
    ],
    [
      { ACCESS_TOKEN_SHA256: `${DIGEST},${DIGEST}` },
      'ACCESS_TOKEN_SHA256: token 2: duplicate of the digest in token 1. Set it to the second line printed by `plant-store token`; separate several digests with commas',
    ],
    [
      {
        ...JWT,
        JWKS_URL: 'http://login.example.com',
        JWT_ALGORITHMS: 'RS256,none',
        JWT_SCOPE: 'a b',
        JWT_READ_SCOPE: 'a b',
      },
      `JWKS_URL: ${HTTPS} or a ${FRAGMENT}`,
      'JWT_ALGORITHMS: must be one or more of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519. Correct or unset it',
      `JWT_SCOPE: ${SCOPE}`,
      `JWT_READ_SCOPE: ${SCOPE}`,
    ],
    [
      { PORT: '70000', HEADERS_TIMEOUT_MS: '20000', MANAGEMENT_HOST: '0.0.0.0' },
      'PORT: must be a whole number from 0 to 65535, got "70000". Example: PORT=3000',
      HEADERS,
      NO_MANAGEMENT,
    ],
    [
      { PUBLIC_URL: 'https://plants.example.com/store', BASE_PATH: '/store' },
      'PUBLIC_URL: must not end with BASE_PATH, which is appended to it. Remove the path',
    ],
    ...['STORAGE', 'MONGODB_COLLECTION', 'JWT_ISSUER', 'NODE_ENV', 'ACCESS_TOKENS_FILE'].map(
      (name): Row => [{ [`${name}_FILE`]: '/none' }, unknown(`${name}_FILE`, name)],
    ),
    [
      { APP_ENV: 'production' },
      NO_VERIFIER.replace('configured', 'configured, which production needs (as APP_ENV says)'),
    ],
    [
      {
        MONGODB_URI: 'mongodb://a',
        MONGODB_COLECTION: 'a',
        ...JWT,
        JWT_SCOPES: 'a',
        NODE_EVN: 'a',
      },
      unknown('MONGODB_COLECTION', 'MONGODB_COLLECTION'),
      unknown('JWT_SCOPES', 'JWT_SCOPE'),
      unknown('NODE_EVN', 'NODE_ENV'),
    ],
    [{ ACCESS_TOKEN: 'a' }, UNVERIFIED],
    [{ NODE_ENV: 'staging' }, NO_STORE, NO_VERIFIER],
    [{ HOST: '::', MANAGEMENT_PORT: '3000' }, SAME_PORT],
  ];

  const noToken =
    'ACCESS_TOKEN: not set, but required for imports and exports. Set it to a token that the service accepts, or ACCESS_TOKEN_FILE to a file that contains one';
  const invalidToken =
    'ACCESS_TOKEN: must be a bearer token, got an empty string. Example: ACCESS_TOKEN=<first line printed by `plant-store token`>';

  const clients: readonly Row[] = [
    [{}, NO_STORE, NO_VERIFIER, noToken],
    [{ ACCESS_TOKEN: '' }, invalidToken, NO_STORE, UNVERIFIED],
  ];

  for (const [whose, read, table] of [
    ['', configured, cases],
    [' for an import or export', configuredAsClient, clients],
  ] as const) {
    for (const [env, ...expected] of table) {
      it(`is explained${whose}: ${shown(env)}`, async () => {
        expect(await problemsOf(env, read)).to.deep.equal(expected);
      });
    }
  }

  it('is explained without showing a secret', async () => {
    const secrets = Object.keys(settings).filter((name) => settings[name]?.secret);
    expect(secrets).to.include.members(['ACCESS_TOKEN_SHA256', 'MONGODB_URI', 'ACCESS_TOKEN']);
    for (const variable of secrets) {
      const env = { [variable]: 'mongodb://me:my-secret@@@' };
      const problems = (await problemsOf(env, configuredAsClient)).join();
      expect(problems).to.include(variable).and.not.include('my-secret');
    }
  });
});

describe('A secret', () => {
  const { write } = newFiles();

  it('can be read from a file, even with a byte order mark or a final line feed', async () => {
    const env = { STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
    for (const [start, end] of [
      ['', ''],
      ['\n', '\n'],
      ['\ufeff', '\r\n'],
    ]) {
      const ACCESS_TOKEN_FILE = write([`${start}a-token${end}`]);
      const { ACCESS_TOKEN } = await configuredAsClient({ ...env, ACCESS_TOKEN_FILE });
      expect(ACCESS_TOKEN).to.equal('a-token');
    }
    const POSTGRESQL_URI_FILE = write(['postgresql://me:pass@a/b']);
    const { store } = await configured({ POSTGRESQL_URI_FILE });
    expect(store.name).to.equal('postgresql');
  });

  it('must not be the digest of an empty string', async () => {
    for (const text of ['', '\n']) {
      const ACCESS_TOKEN_SHA256 = `${DIGEST},${sha256(text)}`;
      const [problem] = await problemsOf({ ACCESS_TOKEN_SHA256 });
      expect(problem).to.match(
        /^ACCESS_TOKEN_SHA256: a digest is that of an empty string, not of a token/,
      );
    }
  });

  it('must not be `demo` in production', async () => {
    const ACCESS_TOKENS_FILE = write([`${sha256('demo').toUpperCase()} nursery\n`]);
    const ACCESS_TOKEN_SHA256 = `${DIGEST},${sha256('demo')}`;
    for (const tokens of [{ ACCESS_TOKEN_SHA256 }, { ACCESS_TOKENS_FILE }]) {
      const env = { ...tokens, STORAGE: 'memory' };
      expect(await problemsOf(env)).to.deep.equal([]);
      const [problem] = await problemsOf({ ...env, NODE_ENV: 'production' });
      expect(problem).to.match(/^ACCESS_TOKEN.*: `demo` is not secret: the README shows it\. /);
    }
  });
});

const PAGE = new URL('../../../../../../docs/configuration.md', import.meta.url);

/** The rows of the table as the page must have them, without what the variables mean. */
const rows = Object.entries(settings).map(
  ([name, { default: fallback }]) =>
    `\`${name}\` | ${fallback === undefined ? '–' : `\`${fallback}\``}`,
);

describe('docs/configuration.md', () => {
  it('lists every variable of the code with its meaning, default and maximum', () => {
    const page = readFileSync(PAGE, 'utf8');
    const found = [...page.matchAll(/^\| (`[A-Z]\w+` \| [^|]+) \| [^|]+ \|$/gm)];
    expect(found.map(([, row]) => row)).to.have.members(rows);
    const [, max] = /^\| `BODY_LIMIT` .* (\d+) \|$/m.exec(page) ?? [];
    expect(settings.BODY_LIMIT?.rule).to.match(new RegExp(` to ${max}$`));
  });
});
