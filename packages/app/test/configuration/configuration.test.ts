import { readdirSync, readFileSync } from 'node:fs';
import { sha256 } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import * as v from 'valibot';
import { settingsOf, variablesThatChoose } from '../../src/configuration/adapter-choice.js';
import { advice, readConfiguration, settings } from '../../src/configuration/configuration.js';
import { ConfigurationError } from '../../src/configuration/setting.js';
import { storages } from '../../src/configuration/storages.js';
import { verifiers } from '../../src/configuration/verifiers.js';
import { newFiles } from '../support/plant-files.js';

type Env = Record<string, string>;

const DIGEST = 'a'.repeat(64);
const ISSUER = 'https://login.example.com';
const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'plants' };
/** A tutorial adds one. */
const STORES = variablesThatChoose(storages);
const FORGETS = 'plants are lost when the process ends';
const unknown = (name: string, meant: string) =>
  `${name}: unknown variable. Did you mean ${meant}?`;

/** Values that no variable of this name takes. */
const INVALID: Readonly<Record<string, readonly string[]>> = {
  PORT: ['"3000"', '3000.5', '0x10', ' 3000', '1e3'],
  MANAGEMENT_PORT: ['on'],
  HOST: ['a host', '127.0.0.1:3000', '256.0.0.1', '1.2.3'],
  BASE_PATH: ['', 'store', '/store/', '/:store', '/..'],
  PUBLIC_URL: [
    '',
    'plants.example.com',
    'ftp://plants.example.com',
    'https://*.example.com',
    'https://plants.example.com/',
    'https://plants.example.com/store/',
    'https://a.example?b',
    'https://me@plants.example.com',
    'https://plants.example.com/#a',
    'https:a.example',
  ],
  STORAGE: ['disk'],
  LOG_LEVEL: ['loud'],
  NODE_ENV: ['', 'prod', 'Production'],
  MONGODB_URI: ['', 'postgres://a', 'mongodb://a\n'],
  POSTGRESQL_URI: ['mongodb://a'],
  ACCESS_TOKEN_SHA256: ['', `${DIGEST}\n`],
  ACCESS_TOKENS_FILE: [''],
  JWT_ISSUER: [
    `"${ISSUER}"`,
    `${ISSUER}/.well-known/openid-configuration`,
    `${ISSUER},https://b.example`,
    'https://login.example.com/{tenantid}/v2.0',
    'https://*.example.com',
  ],
  JWT_AUDIENCE: ['', '*', 'plants,seeds', "'plants'", '{client-id}'],
  JWKS_URL: [''],
  JWT_SCOPE: ['', 'plants:create,plants:read'],
  JWT_READ_SCOPE: ['', 'plants:create,plants:read'],
  JWT_NAME_CLAIM: ['', 'sub,azp'],
  TRUSTED_PROXIES: [
    '',
    'a-proxy',
    '10.0.0.0/33',
    '10',
    '010.0.0.1',
    '10.0.0.*',
    '0.0.0.0',
    '::',
    '[::1]',
    '127.0.0.1:8080',
  ],
  CORS_ALLOWED_ORIGINS: [
    '',
    '*',
    'null',
    'nursery.example',
    'ftp://nursery.example',
    'https://Nursery.example',
    'file://',
    'capacitor://',
    'capacitor://*',
    'Capacitor://localhost',
    'wss://a.example',
    'https://nursery.example/',
    'https://nursery.example/shop',
    'https://nursery.example:443',
    'https://nursery.example,',
    'https://a.example,https://a.example',
    'https://a.example https://b.example',
    'https://gärtnerei.example',
    'https://*.nursery.example',
    'https://*',
    'http://localhost:*',
    'https://.nursery.example',
    'https://nursery.example/*',
    'https://shop%2Enursery.example',
    '"https://nursery.example"',
  ],
};

const configured = (env: Env) => readConfiguration(env, false);
/** Reads the configuration of an import or export. */
const configuredAsClient = (env: Env) => readConfiguration(env, false, true);

/** Resolves with the problems of a configuration outside of a terminal; with none when it is valid. */
async function problemsOf(env: Env, read: (env: Env) => Promise<unknown> = configured) {
  try {
    await read(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError && error.problems.length > 0) return error.problems;
    throw error;
  }
}

describe('What a variable accepts', () => {
  const valueFor = (name: string, text: string) => {
    const { success, output } = v.safeParse(settings[name]?.schema ?? v.never(), text);
    return success ? output : undefined;
  };

  it('is met by its example, and for HOST by names and addresses', () => {
    for (const [name, { example }] of Object.entries(settings)) {
      expect(valueFor(name, example), name).not.to.equal(undefined);
    }
    for (const proxies of [
      '10.0.0.5/8, 127.0.0.1',
      '::1,fd00::/8',
      'loopback',
      '10.0.0.0/255.0.0.0',
    ]) {
      expect(valueFor('TRUSTED_PROXIES', proxies), proxies).to.be.a('function');
    }
    for (const origin of [
      'http://localhost:5173',
      'http://[::1]:3000',
      'https://xn--grtnerei-0za.example',
      'https://a_b.example.',
      'capacitor://localhost',
      'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    ]) {
      expect(valueFor('CORS_ALLOWED_ORIGINS', origin)).to.deep.equal([origin]);
    }
    for (const host of ['::', 'fe80::1', '0.0.0.0', 'plants.example', 'db_1']) {
      expect(valueFor('HOST', host)).to.equal(host);
    }
  });

  it('is met by whole numbers from the smallest to the largest', () => {
    for (const [name, { rule }] of Object.entries(settings)) {
      const [, least, most] = /^a whole number from (\d+) to (\d+)$/.exec(rule) ?? [];
      if (least === undefined) continue;
      const [min, max] = [Number(least), Number(most)];
      const values = [min - 1, min, max, max + 1].map((value) => valueFor(name, `${value}`));
      expect(values, name).to.deep.equal([undefined, min, max, undefined]);
    }
  });

  for (const [variable, values] of Object.entries(INVALID)) {
    it(`refuses other values of ${variable} with name, rule and fix`, async () => {
      const message = `^${variable}: must be .+, got .+\\. Example: ${variable}=`;
      for (const value of values) {
        const chosen = /^(?:NODE_ENV|JW)/.test(variable) ? { STORAGE: 'memory', ...JWT } : {};
        const [problem, ...others] = await problemsOf({ ...chosen, [variable]: value });
        expect(problem, value).to.match(new RegExp(message));
        expect(others).to.deep.equal([]);
      }
    });
  }
});

describe('The configuration', () => {
  const PRODUCTION = { NODE_ENV: 'production', STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
  for (const [what, env, terminal, expected] of [
    ['a default for everything', {}, false, { PORT: 3000, LOG_FORMAT: 'json', DOCS: 'on' }],
    ['a log for people on a terminal', {}, true, { LOG_FORMAT: 'pretty' }],
    ['a format of its own', { LOG_FORMAT: 'json' }, true, { LOG_FORMAT: 'json' }],
    ['no docs page when it is off', { DOCS: 'off' }, false, { DOCS: 'off' }],
    ['no docs page in production', PRODUCTION, false, { DOCS: 'off' }],
    ['a docs page when it is on', { ...PRODUCTION, DOCS: 'on' }, false, { DOCS: 'on' }],
  ] as const) {
    it(`has ${what}`, async () => {
      expect(await readConfiguration(env, terminal)).to.include(expected);
    });
  }

  it('accepts digests in either case and origins, with spaces around the commas', async () => {
    const { verifier, CORS_ALLOWED_ORIGINS } = await configured({
      ACCESS_TOKEN_SHA256: `${sha256('first').toUpperCase()} , ${sha256('second')}`,
      CORS_ALLOWED_ORIGINS: 'https://nursery.example , http://localhost:5173',
    });
    const opened = await verifier.open(() => undefined);
    expect((await opened.verify('first')).name).to.equal('token 1');
    expect((await opened.verify('second')).name).to.equal('token 2');
    const origins = ['https://nursery.example', 'http://localhost:5173'];
    expect(CORS_ALLOWED_ORIGINS).to.deep.equal(origins);
  });

  it('has the names and the variables of its adapters', async () => {
    const own = await configured({ ACCESS_TOKEN_SHA256: DIGEST });
    expect(own.storage).to.include({ name: 'memory' }).and.not.to.have.property('variables');
    expect(own.verifier).to.include({ name: 'static' }).and.not.to.have.property('variables');
    const { storage, verifier } = await configured({ MONGODB_URI: 'mongodb://a', ...JWT });
    const note = 'mongodb (collection plants)';
    expect(storage).to.include({ name: 'mongodb', note, variables: 'MONGODB_URI' });
    expect(verifier).to.include({ name: 'jwt', variables: 'JWT_ISSUER, JWKS_URL' });
  });
});

describe('A problem of the configuration', () => {
  const NO_STORAGE = `STORAGE: not set. Set ${STORES}, or STORAGE=memory (${FORGETS})`;
  const NO_VERIFIER = `ACCESS_TOKENS_FILE: not set, and no other way to verify tokens. Set ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE or JWT_ISSUER with JWT_AUDIENCE`;
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
    `${variable}: cannot read the file (ENOENT: no such file or directory, open '/none'). Correct the path or the permissions`;

  const cases: readonly (readonly [Env, ...string[]])[] = [
    [
      { MONGODB_URI: ' mongodb://a' },
      notUri('a value that is not shown, with white space or quotes around it'),
    ],
    [{ MONGODB_URI_FILE: '/etc/passwd' }, notUri('a value that is not shown')],
    [{ MONGODB_URI_FILE: '/none' }, unreadable('MONGODB_URI_FILE')],
    [
      { MONGODB_URI: 'mongodb://a', MONGODB_URI_FILE: '/none' },
      'MONGODB_URI, MONGODB_URI_FILE: both are set. Unset one of them',
    ],
    [
      { STORAGE: 'memory', MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'b' },
      'STORAGE, MONGODB_URI, MONGODB_COLLECTION: set for more than one: STORAGE for memory; MONGODB_URI, MONGODB_COLLECTION for mongodb. Keep one and unset the others',
    ],
    [
      { ...JWT, ACCESS_TOKEN_SHA256: DIGEST, ACCESS_TOKENS_FILE: '/none' },
      'ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE, JWT_ISSUER, JWT_AUDIENCE: set for more than one: ACCESS_TOKEN_SHA256 for static; ACCESS_TOKENS_FILE for file; JWT_ISSUER, JWT_AUDIENCE for jwt. Keep one and unset the others',
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
      { ACCESS_TOKENS_FILE: '/' },
      'ACCESS_TOKENS_FILE: cannot read the file (EISDIR: illegal operation on a directory, read). Each line must contain a digest and a label: see docs/authentication.md',
    ],
    [{ ...JWT, JWT_ISSUER: 'login' }, `JWT_ISSUER: ${HTTPS}, a query or a ${FRAGMENT}`],
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
      { MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'a$b' },
      'MONGODB_COLLECTION: must be a collection name, got "a$b". Example: MONGODB_COLLECTION=plants',
    ],
    [
      { POSTGRESQL_URI: 'postgresql://plants:1234/plants' },
      'POSTGRESQL_URI: must be a PostgreSQL connection string (it must contain a user, exactly one host and a database; percent-encode special characters). Correct it',
    ],
    [{ STORAGE: 'postgresql', POSTGRESQL_URI: 'postgres://a:b@c:5432/d?sslmode=verify-full' }],
    [{ HEADERS_TIMEOUT_MS: '20000', MANAGEMENT_HOST: '0.0.0.0' }, HEADERS, NO_MANAGEMENT],
    [
      { PORT: '70000', HEADERS_TIMEOUT_MS: '20000', MANAGEMENT_HOST: '0.0.0.0' },
      'PORT: must be a whole number from 0 to 65535, got "70000". Example: PORT=3000',
      HEADERS,
      NO_MANAGEMENT,
    ],
    [{ HEADERS_TIMEOUT_MS: '15000' }],
    [{ PUBLIC_URL: 'https://plants.example.com/garden', BASE_PATH: '/store' }],
    [
      { PUBLIC_URL: 'https://plants.example.com/store', BASE_PATH: '/store' },
      'PUBLIC_URL: must not end with BASE_PATH, which is appended to it. Remove the path',
    ],
    ...['STORAGE', 'MONGODB_COLLECTION', 'JWT_ISSUER', 'NODE_ENV', 'ACCESS_TOKENS_FILE'].map(
      (name): [Env, string] => [
        { [`${name}_FILE`]: '/none' },
        `${name}_FILE: ${name} is not a secret. Set ${name} instead`,
      ],
    ),
    [{ ACCESS_TOKEN: 'a' }, NO_VERIFIER],
    [{ jwt_issuer: ISSUER }, NO_VERIFIER, unknown('jwt_issuer', 'JWT_ISSUER')],
    [{ NODE_ENV: 'staging' }, NO_STORAGE, NO_VERIFIER],
    [{ NODE_ENV: 'staging', STORAGE: 'memory', ...JWT }],
    [{ HOST: '::', MANAGEMENT_PORT: '3000' }, SAME_PORT],
    [{ MANAGEMENT_HOST: '::', MANAGEMENT_PORT: '3000' }, SAME_PORT],
    [{ MANAGEMENT_HOST: '127.0.0.2', MANAGEMENT_PORT: '3000' }],
    [{ PORT: '0', MANAGEMENT_PORT: '0' }],
    [{ NODE_ENV: 'production' }, NO_STORAGE, NO_VERIFIER],
    [{ NODE_ENV: 'production', MONGODB_URI: 'mongodb://a', ACCESS_TOKEN_SHA256: DIGEST }],
    [
      { NODE_ENV: 'production', MONGODB_COLLECTION: 'b', JWT_ISSUER: ISSUER },
      one('MONGODB_URI', 'MONGODB_COLLECTION is'),
      one('JWT_AUDIENCE', 'JWT_ISSUER is'),
    ],
  ];

  const token = { ACCESS_TOKEN: 'a', ACCESS_TOKEN_SHA256: DIGEST };
  const noToken =
    'ACCESS_TOKEN: not set, but required for imports and exports. Set it to a token that the service accepts, or ACCESS_TOKEN_FILE to a file that contains one';
  const invalidToken =
    'ACCESS_TOKEN: must be a bearer token, got an empty string. Example: ACCESS_TOKEN=<first line printed by `plant-store token`>';

  const clients: typeof cases = [
    [{}, NO_STORAGE, NO_VERIFIER, noToken],
    [{ STORAGE: 'memory', ...token }],
    [{ STORAGE: 'memory', ACCESS_TOKEN: 'a' }, NO_VERIFIER],
    [
      { STORAGE: 'memory', ACCESS_TOKEN_FILE: '/none', ACCESS_TOKEN_SHA256_FILE: '/none' },
      ...['ACCESS_TOKEN_FILE', 'ACCESS_TOKEN_SHA256_FILE'].map(unreadable),
    ],
    [{ STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST }, noToken],
    [{ ACCESS_TOKEN: '' }, invalidToken, NO_STORAGE, NO_VERIFIER],
  ];

  for (const [whose, read, table] of [
    ['', configured, cases],
    [' of an import or export', configuredAsClient, clients],
  ] as const) {
    for (const [env, ...expected] of table) {
      it(`${whose} has a complete message, for ${JSON.stringify(env)}`.trim(), async () => {
        expect(await problemsOf(env, read)).to.deep.equal(expected);
      });
    }
  }

  it('reveals no secret', async () => {
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

  it('can be in a file, whose last line may end', async () => {
    const env = { STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
    for (const end of ['', '\n', '\r\n']) {
      const ACCESS_TOKEN_FILE = write([`a-token${end}`]);
      const { ACCESS_TOKEN } = await configuredAsClient({ ...env, ACCESS_TOKEN_FILE });
      expect(ACCESS_TOKEN).to.equal('a-token');
    }
    const POSTGRESQL_URI_FILE = write(['postgresql://me:pass@a/b']);
    const { storage } = await configured({ POSTGRESQL_URI_FILE });
    expect(storage.name).to.equal('postgresql');
  });

  it('is not the digest of empty text, which an unset variable yields', async () => {
    for (const text of ['', '\n']) {
      const ACCESS_TOKEN_SHA256 = `${DIGEST},${sha256(text)}`;
      const [problem] = await problemsOf({ ACCESS_TOKEN_SHA256 });
      expect(problem).to.match(
        /^ACCESS_TOKEN_SHA256: a digest is of an empty text, not of a token/,
      );
    }
  });

  it('cannot be the one from the README in production', async () => {
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

const TRIALS: readonly Env[] = [{}, { NODE_ENV: 'development' }, { NODE_ENV: 'test' }];

const OTHERS: readonly Env[] = [
  'production',
  '',
  ' ',
  ' production',
  'production\n',
  'Production',
  'PRODUCTION',
  'prod',
  'porduction',
  '"production"',
  'prd',
  'live',
  'staging',
  'Development',
  'test ',
]
  .map((NODE_ENV): Env => ({ NODE_ENV }))
  .concat(
    ['node_env', 'Node_Env', 'NOD_ENV', 'NODE_ENVS', 'NODE_ENV_FILE', 'NODE_ENV_FIEL'].map(
      (name) => ({ [name]: 'production' }),
    ),
    ...['node_env_file', 'NDE_ENV_FILE'].map((name) => ({ [name]: '/none' })),
    ...['ENV', 'APP_ENV', 'NODE_ENVIRONMENT'].map((name) => ({ [name]: 'production' })),
  );

/** Every setting of a token verifier, and the one that is taken for it, in every form. */
const NAMED = [...Object.keys(settingsOf(verifiers)), 'ACCESS_TOKEN'].flatMap((name): Env[] => [
  ...[sha256('a'), 'https://login.example.com', '', ' '].map((value) => ({ [name]: value })),
  ...['_FILE', '_FIEL', 'S', '_'].map((end) => ({ [`${name}${end}`]: '/none' })),
  ...[name.toLowerCase(), name.slice(1), name.replace('_', '')].flatMap((it) => [
    { [it]: '/none' },
    { [`${it}_FILE`]: '/none' },
  ]),
  ...['JWT_ISSUER_URL', 'JWT_KEY', 'OIDC_ISSUER'].map((it) => ({ [it]: '/none' })),
]);

const CHOSEN: readonly Env[] = [JWT, { ACCESS_TOKEN_SHA256: sha256('a') }];

describe('A token that is made for a run', () => {
  it('is made in trials without token settings, for a client named demo', async () => {
    for (const env of TRIALS) {
      const { demoToken = '', verifier } = await readConfiguration(env, false);
      const opened = await verifier.open(() => undefined);
      expect((await opened.verify(demoToken)).name).to.equal('demo');
    }
  });

  it('is not made if anything names production or a verifier, however written', async () => {
    for (const environment of [...TRIALS, ...OTHERS]) {
      for (const tokens of [{}, ...NAMED, ...CHOSEN]) {
        const env = { ...environment, ...tokens };
        if (TRIALS.includes(environment) && Object.keys(tokens).length === 0) continue;
        await problemsOf({ STORAGE: 'memory', ...env }, async (it) => {
          const { demoToken } = await configured(it);
          expect(demoToken, JSON.stringify(it)).to.equal(undefined);
        });
      }
    }
  });
});

const read = (page: string) =>
  readFileSync(new URL(`../../../../../docs/${page}`, import.meta.url), 'utf8');

/** The rows of the table as the page must have them, without what the variables mean. */
const rows = Object.entries(settings).map(
  ([name, { default: fallback }]) =>
    `\`${name}\` | ${fallback === undefined ? '–' : `\`${fallback}\``}`,
);

describe('docs/configuration.md', () => {
  it("has the code's variables and defaults, and what each variable means", () => {
    const page = read('configuration.md');
    const found = [...page.matchAll(/^\| (`[A-Z]\w+` \| [^|]+) \| [^|]+ \|$/gm)];
    expect(found.map(([, row]) => row)).to.have.members(rows);
  });
});

describe('docs/operations.md', () => {
  it('explains every line that is logged as an error', () => {
    const operations = read('operations.md');
    const folder = new URL('../../../src/', import.meta.url);
    const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const lines = [...source.join('').matchAll(/logger\.error\([^']*'([^']+)'\)/g)];
    expect(lines).not.to.have.length(0);
    for (const [, line] of lines) expect(operations).to.include(`\n- \`${line}\`: `);
  });
});
