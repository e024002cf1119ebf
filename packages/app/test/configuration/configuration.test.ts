import { PERMISSIONS } from '@plant-store/domain';
import { sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import * as v from 'valibot';
import { variablesThatChoose } from '../../src/configuration/adapter-choice.js';
import { advice, readConfiguration } from '../../src/configuration/configuration.js';
import { ConfigurationError } from '../../src/configuration/setting.js';
import { settings } from '../../src/configuration/settings.js';
import { storages } from '../../src/configuration/storages.js';
import { demoVerifier, verifiers } from '../../src/configuration/verifiers.js';
import { PlantFiles } from '../support/plant-files.js';

type Env = Record<string, string>;

const DIGEST = 'a'.repeat(64);
const ISSUER = 'https://login.example.com';
const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'plants' };
const STORES = variablesThatChoose(storages);
const FORGETS = 'memory loses every plant when the process ends';

/** Values that no variable of this name takes. */
const INVALID: Readonly<Record<string, readonly string[]>> = {
  PORT: ['3000.5', '0x10', ' 3000', '1e3'],
  MANAGEMENT_PORT: ['on'],
  HOST: ['a host', '127.0.0.1:3000', '256.0.0.1', '1.2.3'],
  BASE_PATH: ['', 'store', '/store/', '/:store', '/..'],
  STORAGE: ['disk'],
  LOG_LEVEL: ['loud'],
  NODE_ENV: ['', 'prod', 'Production'],
  MONGODB_URI: ['', 'postgres://a', 'mongodb://a\n'],
  POSTGRESQL_URI: ['mongodb://a'],
  ACCESS_TOKEN_SHA256: ['', `${DIGEST}\n`],
  ACCESS_TOKENS_FILE: [''],
  TRUSTED_PROXIES: ['', 'a-proxy', '10.0.0.0/33'],
  CORS_ALLOWED_ORIGINS: [
    ...['', '*', 'null', 'nursery.example', 'ftp://nursery.example', 'https://Nursery.example'],
    ...['https://nursery.example/', 'https://nursery.example/shop', 'https://nursery.example:443'],
    ...['https://nursery.example,', 'https://a.example,https://a.example'],
    ...['https://a.example https://b.example', 'https://gärtnerei.example'],
  ],
};

/** Resolves with the problems of a configuration outside of a terminal; with none when it is valid. */
async function problemsOf(
  env: Env,
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

const readClientConfiguration = (env: NodeJS.ProcessEnv, terminal: boolean) =>
  readConfiguration(env, terminal, true);
const configured = (env: Env) => readConfiguration(env, false);
const advised = async (env: Env) => advice(await configured(env));

describe('What a variable accepts', () => {
  const valueFor = (name: string, text: string) => {
    const { success, output } = v.safeParse(settings[name]?.schema ?? v.never(), text);
    return success ? output : undefined;
  };

  it('is met by its example', () => {
    for (const [name, { example }] of Object.entries(settings)) {
      expect(valueFor(name, example), name).not.to.equal(undefined);
    }
  });

  it('is met by whole numbers from the smallest to the largest', () => {
    for (const [name, { expected }] of Object.entries(settings)) {
      const [, least, most] = /^a whole number from (\d+) to (\d+)$/.exec(expected) ?? [];
      if (least === undefined) continue;
      const [min, max] = [Number(least), Number(most)];
      const values = [min - 1, min, max, max + 1].map((value) => valueFor(name, `${value}`));
      expect(values, name).to.deep.equal([undefined, min, max, undefined]);
    }
  });

  it('is met by names and addresses of hosts', () => {
    for (const host of ['::', 'fe80::1', '0.0.0.0', 'plants.example', 'db_1']) {
      expect(valueFor('HOST', host)).to.equal(host);
    }
  });

  for (const [variable, values] of Object.entries(INVALID)) {
    it(`is not met by other values of ${variable}, with the name, the rule and the fix`, async () => {
      const message = `^${variable}: expected .+, found .+\\. Unset it, or set for example ${variable}=`;
      for (const value of values) {
        const [problem, ...others] = await problemsOf({ [variable]: value });
        expect(problem, value).to.match(new RegExp(message));
        expect(others).to.deep.equal([]);
      }
    });
  }
});

describe('The configuration', () => {
  it('has a default for everything outside of production, and a log for people on a terminal', async () => {
    expect(await configured({})).to.include({ PORT: 3000, LOG_FORMAT: 'json', production: false });
    expect((await readConfiguration({}, true)).LOG_FORMAT).to.equal('pretty');
    expect((await readConfiguration({ LOG_FORMAT: 'json' }, true)).LOG_FORMAT).to.equal('json');
  });

  it('has a docs page, except in production, unless it is configured otherwise', async () => {
    const docs = async (env: Env) => (await configured(env)).DOCS;
    const production = { NODE_ENV: 'production', STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
    expect([await docs({}), await docs({ DOCS: 'off' })]).to.deep.equal(['on', 'off']);
    expect(await docs(production)).to.equal('off');
    expect(await docs({ ...production, DOCS: 'on' })).to.equal('on');
  });

  it('accepts several digests, in either case, and several origins, with spaces around the commas', async () => {
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
    expect([own.storage.name, own.verifier.name]).to.deep.equal(['memory', 'static']);
    for (const adapter of [own.storage, own.verifier]) {
      expect(adapter).not.to.have.property('variables');
    }
    const { storage, verifier } = await configured({ MONGODB_URI: 'mongodb://a', ...JWT });
    const database = { variables: 'MONGODB_URI' };
    const note = 'mongodb (collection plants)';
    expect(storage).to.include({ name: 'mongodb', note, ...database });
    expect(verifier).to.include({ name: 'jwt', variables: 'JWT_ISSUER, JWKS_URL' });
  });

  it('has a verifier that accepts only its own token, for a client with the name demo', async () => {
    const { name, demoToken = '', open } = demoVerifier();
    expect(name).to.equal('static');
    const verifier = await open(() => undefined);
    const client = await verifier.verify(demoToken);
    expect(client.name).to.equal('demo');
    expect([...client.permissions]).to.deep.equal([...PERMISSIONS]);
  });
});

describe('The variables that choose an adapter', () => {
  it('are valid, also those that an adapter does not require', async () => {
    for (const name of ['JWT_SCOPE', 'JWT_READ_SCOPE', 'JWKS_URL']) {
      const [problem = 'no problem'] = await problemsOf({ ...JWT, [name]: '' });
      expect(problem.split(': expected')[0]).to.equal(name);
    }
  });

  it('are those that each adapter requires', () => {
    const adapter = (...required: string[]) => ({
      settings: {},
      required,
      configure: async () => 0,
    });
    const [a, b, none] = [adapter('A'), adapter('B', 'C'), adapter()];
    expect(variablesThatChoose({ a })).to.equal('A');
    expect(variablesThatChoose({ none, a, b })).to.equal('A or B with C');
    expect(variablesThatChoose({ a, b, c: adapter('D') })).to.equal('A, B with C or D');
  });
});

describe('A problem of the configuration', () => {
  const NO_STORAGE = `STORAGE: expected to be set, since ${FORGETS}. Set ${STORES}, or STORAGE=memory if that is intended`;
  const NO_VERIFIER = `ACCESS_TOKENS_FILE: expected a way to verify tokens. Set ${variablesThatChoose(verifiers)}`;
  const HTTPS = 'expected an https URL, or an http URL on the loopback interface, without a user';
  const FRAGMENT = 'fragment. Correct it, or unset it';
  const SCOPE = 'expected a single scope as in RFC 6749, section 3.3. Correct it, or unset it';
  const SAME_PORT =
    'MANAGEMENT_PORT: expected another port than PORT, since one port takes one listener. Set it to a free one';
  const one = (variable: string, since: string) =>
    `${variable}: expected to be set, since ${since} set. Set it too, or neither`;

  const cases: readonly (readonly [Env, ...string[]])[] = [
    [
      { MONGODB_URI: ' mongodb://a' },
      'MONGODB_URI: expected a connection string of MongoDB, found white space around it. Unset it, or set for example MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=plants',
    ],
    [
      { STORAGE: 'memory', MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'b' },
      'STORAGE, MONGODB_URI, MONGODB_COLLECTION: expected the variables of one only, found STORAGE for memory; MONGODB_URI, MONGODB_COLLECTION for mongodb. Unset the others',
    ],
    [
      { ...JWT, ACCESS_TOKEN_SHA256: DIGEST, ACCESS_TOKENS_FILE: '/none' },
      'ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE, JWT_ISSUER, JWT_AUDIENCE: expected the variables of one only, found ACCESS_TOKEN_SHA256 for static; ACCESS_TOKENS_FILE for file; JWT_ISSUER, JWT_AUDIENCE for jwt. Unset the others',
    ],
    [
      { DOCS: 'x', STORAGE: 'mongodb', JWT_ISSUER: ISSUER, JWT_SCOPE: 'a' },
      'DOCS: expected on or off, found "x". Unset it, or set for example DOCS=on',
      one('MONGODB_URI', 'STORAGE is'),
      one('JWT_AUDIENCE', 'JWT_ISSUER, JWT_SCOPE are'),
    ],
    [
      { ACCESS_TOKEN_SHA256: `${DIGEST},${DIGEST}` },
      'ACCESS_TOKEN_SHA256: token 2: the same digest as in token 1. Set it to the second line that `plant-store token` prints. Separate several digests by commas',
    ],
    [
      { ACCESS_TOKENS_FILE: '/' },
      'ACCESS_TOKENS_FILE: expected a file that can be read (EISDIR: illegal operation on a directory, read). Write a digest and a label on each line of the file: see docs/authentication.md',
    ],
    [{ ...JWT, JWT_ISSUER: 'login' }, `JWT_ISSUER: ${HTTPS}, a query or a ${FRAGMENT}`],
    [
      {
        ...{ ...JWT, JWKS_URL: 'http://login.example.com', JWT_ALGORITHMS: 'RS256,none' },
        ...{ JWT_SCOPE: 'a b', JWT_READ_SCOPE: 'a b' },
      },
      `JWKS_URL: ${HTTPS} or a ${FRAGMENT}`,
      'JWT_ALGORITHMS: expected some of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519. Correct it, or unset it',
      `JWT_SCOPE: ${SCOPE}`,
      `JWT_READ_SCOPE: ${SCOPE}`,
    ],
    [
      { MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'a$b' },
      'MONGODB_COLLECTION: expected the name of a collection, found "a$b". Unset it, or set for example MONGODB_COLLECTION=plants',
    ],
    [
      { POSTGRESQL_URI: 'postgresql://plants:1234/plants' },
      'POSTGRESQL_URI: expected a connection string of PostgreSQL (it must have a user, one host and a database, and other special characters percent-encoded). Correct it',
    ],
    [{ STORAGE: 'postgresql', POSTGRESQL_URI: 'postgres://a:b@c:5432/d?sslmode=verify-full' }],
    [
      { HEADERS_TIMEOUT_MS: '20000', MANAGEMENT_HOST: '0.0.0.0' },
      'HEADERS_TIMEOUT_MS: expected at most REQUEST_TIMEOUT_MS, since the headers are a part of the request. Lower it, or raise REQUEST_TIMEOUT_MS',
      'MANAGEMENT_HOST: expected only with MANAGEMENT_PORT. Set MANAGEMENT_PORT, or unset it',
    ],
    [{ HEADERS_TIMEOUT_MS: '15000' }],
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

  for (const [env, ...expected] of cases) {
    it(`has a complete message, for ${JSON.stringify(env)}`, async () => {
      expect(await problemsOf(env)).to.deep.equal(expected);
    });
  }

  const token = { ACCESS_TOKEN: 'a', ACCESS_TOKEN_SHA256: DIGEST };
  const noToken =
    'ACCESS_TOKEN: expected to be set, since an import and an export are made by a client. Set it, or ACCESS_TOKEN_FILE, to a token that the service accepts';
  const invalidToken =
    'ACCESS_TOKEN: expected a bearer token, found an empty string. Unset it, or set for example ACCESS_TOKEN=<the first line that `plant-store token` prints>';

  const clients: typeof cases = [
    [{}, NO_STORAGE, NO_VERIFIER, noToken],
    [{ STORAGE: 'memory', ...token }],
    [{ STORAGE: 'memory', ACCESS_TOKEN: 'a' }, NO_VERIFIER],
    [{ STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST }, noToken],
    [{ ACCESS_TOKEN: '' }, invalidToken, NO_STORAGE, NO_VERIFIER],
    [
      { DATABASE_URL: 'postgres://a', ...token },
      NO_STORAGE,
      'DATABASE_URL: ignored, since it is not a variable of this service. Set MONGODB_URI or POSTGRESQL_URI if the storage is meant',
    ],
  ];

  for (const [env, ...expected] of clients) {
    it(`has a complete message for an import or export, for ${JSON.stringify(env)}`, async () => {
      expect(await problemsOf(env, readClientConfiguration)).to.deep.equal(expected);
    });
  }

  it('reveals no secret', async () => {
    const secrets = Object.keys(settings).filter((name) => settings[name]?.secret);
    expect(secrets).to.include.members(['ACCESS_TOKEN_SHA256', 'MONGODB_URI', 'ACCESS_TOKEN']);
    for (const variable of secrets) {
      const env = { [variable]: 'mongodb://me:my-secret@@@' };
      const problems = (await problemsOf(env, readClientConfiguration)).join();
      expect(problems).to.include(variable).and.not.include('my-secret');
    }
  });
});

describe('A secret', () => {
  const files = new PlantFiles();
  after(() => files.remove());

  const file = (text: string) => files.write([text]);

  it('can be in a file, whose last line may end', async () => {
    const env = { STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
    for (const end of ['', '\n', '\r\n']) {
      const ACCESS_TOKEN_FILE = await file(`a-token${end}`);
      const { ACCESS_TOKEN } = await readClientConfiguration({ ...env, ACCESS_TOKEN_FILE }, false);
      expect(ACCESS_TOKEN).to.equal('a-token');
    }
    const POSTGRESQL_URI_FILE = await file('postgresql://me:pass@a/b');
    const { storage } = await configured({ POSTGRESQL_URI_FILE });
    expect(storage.name).to.equal('postgresql');
  });

  it('is in one place, and its file can be read', async () => {
    const MONGODB_URI_FILE = files.newPath();
    expect(await problemsOf({ MONGODB_URI_FILE })).to.deep.equal([
      `MONGODB_URI_FILE: expected a file that can be read (ENOENT: no such file or directory, open '${MONGODB_URI_FILE}'). Correct it`,
    ]);
    const secrets = { ACCESS_TOKEN_FILE: '/none', ACCESS_TOKEN_SHA256_FILE: '/none' };
    const missing = await problemsOf({ STORAGE: 'memory', ...secrets }, readClientConfiguration);
    expect(missing.map((problem) => problem.split(':')[0])).to.have.members(Object.keys(secrets));
    expect(
      await problemsOf({ MONGODB_URI: 'mongodb://a', MONGODB_URI_FILE: await file('mongodb://b') }),
    ).to.deep.equal(['MONGODB_URI, MONGODB_URI_FILE: expected only one of them. Unset the other']);
    expect(await problemsOf({ MONGODB_URI_FILE: await file('a-secret') })).to.deep.equal([
      'MONGODB_URI: expected a connection string of MongoDB, found something else. Unset it, or set for example MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=plants',
    ]);
  });

  it('is not that of the README in production, in the variable and in the file', async () => {
    const ACCESS_TOKENS_FILE = await file(`${sha256('demo').toUpperCase()} nursery\n`);
    const ACCESS_TOKEN_SHA256 = `${DIGEST},${sha256('demo')}`;
    for (const tokens of [{ ACCESS_TOKEN_SHA256 }, { ACCESS_TOKENS_FILE }]) {
      const env = { ...tokens, STORAGE: 'memory' };
      expect(await problemsOf(env)).to.deep.equal([]);
      const [problem] = await problemsOf({ ...env, NODE_ENV: 'production' });
      expect(problem).to.match(/^ACCESS_TOKEN.*: expected secret tokens, found `demo`, which the/);
    }
  });
});

describe('Advice', () => {
  it('is complete sentences', async () => {
    const production = { NODE_ENV: 'production', STORAGE: 'memory' };
    expect(await advised({ ...production, ...JWT })).to.deep.equal([
      `STORAGE: ${FORGETS}. Set ${STORES} to keep plants`,
      'JWT_SCOPE: it is not set, so every valid token of the issuer permits creating plants. Set it to the scope that permits it',
    ]);
    expect(await advised({ ...JWT, JWT_SCOPE: 'plants' })).to.deep.equal([]);
  });

  it('is about a deadline that is shorter than an election', async () => {
    const within = (REQUEST_DEADLINE_MS: string) =>
      advised({ MONGODB_URI: 'mongodb://a', REQUEST_DEADLINE_MS });
    expect(await within('12000')).to.deep.equal([]);
    expect(await within('11999')).to.deep.equal([
      'REQUEST_DEADLINE_MS: creates fail during a failover, since a replica set with default settings takes up to 11 s to elect a primary. Set it to 12000 or more',
    ]);
  });

  it('is about a shutdown that is shorter than a request', async () => {
    const times = { REQUEST_TIMEOUT_MS: '20000', REQUEST_DEADLINE_MS: '30000' };
    expect(await advised({ ...times, SHUTDOWN_TIMEOUT_MS: '51000' })).to.deep.equal([]);
    const [line] = await advised({ ...times, SHUTDOWN_TIMEOUT_MS: '50999' });
    const sentence = /^SHUTDOWN_TIMEOUT_MS: .* up to 51000 ms .*\. Set it to 51000 or more$/;
    expect(line).to.match(sentence);
  });

  it('is about variables of other programs, unless a storage is chosen', async () => {
    expect(await advised({ MONGO_URL: 'mongodb://a' })).to.deep.equal([
      'MONGO_URL: ignored, since it is not a variable of this service. Set MONGODB_URI if the storage is meant',
    ]);
    expect(await advised({ STORAGE: 'memory', MONGO_URL: 'mongodb://a' })).to.deep.equal([]);
  });

  it('is about variables that resemble others, also among problems', async () => {
    expect(await advised({ SHUTDOWN_DELAY: '1', HOME: '1' })).to.deep.equal([]);
    const lines = (env: Env) =>
      Object.entries(env).map(
        ([name, meant]) =>
          `${name}: ignored, since it is not a variable of this service. Rename it if ${meant} is meant`,
      );
    const env = { POST: 'HOST', DOC: 'DOCS', ACCESS_TOKEN_SHA265: 'ACCESS_TOKEN_SHA256' };
    expect(await advised(env)).to.deep.equal(lines(env));
    const problems = await problemsOf({ NODE_ENV: 'production', ...env });
    expect(problems.slice(-3)).to.deep.equal(lines(env));
  });
});
