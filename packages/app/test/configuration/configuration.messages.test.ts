import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import * as v from 'valibot';
import { variablesThatChoose } from '../../src/configuration/adapter-choice.js';
import {
  advice,
  readClientConfiguration,
  readConfiguration,
} from '../../src/configuration/configuration.js';
import { settings } from '../../src/configuration/settings.js';
import { storages } from '../../src/configuration/storages.js';
import { verifiers } from '../../src/configuration/verifiers.js';
import { DIGEST, JWT, problemsOf } from '../support/broken-configurations.js';

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

const valueFor = (name: string, text: string) => {
  const setting = settings[name];
  if (setting === undefined) throw new Error(`there is no variable ${name}`);
  const { success, output } = v.safeParse(setting.schema, text);
  return success ? output : undefined;
};

describe('What a variable expects', () => {
  for (const [name, [min, max]] of Object.entries(LIMITS)) {
    it(`is ${min} to ${max} for ${name}`, () => {
      expect(settings[name]?.expected).to.equal(`a whole number from ${min} to ${max}`);
      for (const value of [min, max]) expect(valueFor(name, `${value}`)).to.equal(value);
      for (const value of [min - 1, max + 1]) {
        expect(valueFor(name, `${value}`), `${value}`).to.equal(undefined);
      }
    });
  }

  it('is met by its example', () => {
    for (const [name, { example }] of Object.entries(settings)) {
      expect(valueFor(name, example), name).not.to.equal(undefined);
    }
  });

  for (const host of ['::', '::1', 'fe80::1', '0.0.0.0', 'plants.example', 'db_1', '10.0.0.1']) {
    it(`is met by the host ${host}`, () => {
      expect(valueFor('HOST', host)).to.equal(host);
    });
  }
});

const STORES = variablesThatChoose(storages);
const WAYS = variablesThatChoose(verifiers);
const FORGETS = 'memory loses every plant when the process ends';
const NO_STORAGE = `STORAGE: expected to be set, since ${FORGETS}. Set ${STORES}, or STORAGE=memory if that is intended`;
const NO_VERIFIER = `ACCESS_TOKENS_FILE: expected a way to verify tokens. Set ${WAYS}`;
const TOKEN_FIX =
  'Set it to the second line that `plant-store token` prints. Separate several digests by commas';
const HTTPS = 'expected an https URL, or an http URL on the loopback interface, without a user';
const FIX = 'fragment. Correct it, or unset it';
const FILE_FIX = 'Write a digest and a label on each line of the file: see docs/authentication.md';

describe('The variables that choose an adapter', () => {
  it('are those that each adapter requires', () => {
    const adapter = (...required: string[]) => ({
      settings: {},
      required,
      configure: async () => 0,
    });
    expect(variablesThatChoose({ a: adapter('A') })).to.equal('A');
    expect(
      variablesThatChoose({ none: adapter(), a: adapter('A'), b: adapter('B', 'C') }),
    ).to.equal('A or B with C');
    expect(variablesThatChoose({ a: adapter('A'), b: adapter('B'), c: adapter('C') })).to.equal(
      'A, B or C',
    );
  });
});

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
      'MONGODB_URI: expected a connection string of MongoDB, found white space around it. Unset it, or set for example MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=plants',
    ],
    [
      { MONGODB_URI: 'postgres://a' },
      'MONGODB_URI: expected a connection string of MongoDB, found something else. Unset it, or set for example MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=plants',
    ],
    [
      { STORAGE: 'mongodb' },
      'MONGODB_URI: expected to be set, since STORAGE is set. Set it too, or neither',
    ],
    [
      { MONGODB_COLLECTION: 'plants' },
      'MONGODB_URI: expected to be set, since MONGODB_COLLECTION is set. Set it too, or neither',
    ],
    [
      { STORAGE: 'memory', MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'b' },
      'STORAGE, MONGODB_URI, MONGODB_COLLECTION: expected the variables of one only, found STORAGE for memory; MONGODB_URI, MONGODB_COLLECTION for mongodb. Unset the others',
    ],
    [
      { STORAGE: 'memory', MONGODB_URI: 'mongodb://a', POSTGRESQL_URI: 'postgres://a@b/c' },
      'STORAGE, MONGODB_URI, POSTGRESQL_URI: expected the variables of one only, found STORAGE for memory; MONGODB_URI for mongodb; POSTGRESQL_URI for postgresql. Unset the others',
    ],
    [
      { DOCS: 'x', STORAGE: 'mongodb', JWT_ISSUER: 'https://login.example.com' },
      'DOCS: expected on or off, found "x". Unset it, or set for example DOCS=on',
      'MONGODB_URI: expected to be set, since STORAGE is set. Set it too, or neither',
      'JWT_AUDIENCE: expected to be set, since JWT_ISSUER is set. Set it too, or neither',
    ],
    [
      { JWT_AUDIENCE: 'plants', JWT_ALGORITHMS: 'RS256' },
      'JWT_ISSUER: expected to be set, since JWT_AUDIENCE, JWT_ALGORITHMS are set. Set it too, or neither',
    ],
    [
      { ...JWT, ACCESS_TOKEN_SHA256: DIGEST },
      'ACCESS_TOKEN_SHA256, JWT_ISSUER, JWT_AUDIENCE: expected the variables of one only, found ACCESS_TOKEN_SHA256 for static; JWT_ISSUER, JWT_AUDIENCE for jwt. Unset the others',
    ],
    [
      { ...JWT, ACCESS_TOKEN_SHA256: DIGEST, ACCESS_TOKENS_FILE: '/none' },
      'ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE, JWT_ISSUER, JWT_AUDIENCE: expected the variables of one only, found ACCESS_TOKEN_SHA256 for static; ACCESS_TOKENS_FILE for file; JWT_ISSUER, JWT_AUDIENCE for jwt. Unset the others',
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
      { ...JWT, JWKS_URL: 'http://login.example.com', JWT_ALGORITHMS: 'RS256,none' },
      `JWKS_URL: ${HTTPS} or a ${FIX}`,
      'JWT_ALGORITHMS: expected some of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519. Correct it, or unset it',
    ],
    [{ ...JWT, JWT_ISSUER: 'login.example.com' }, `JWT_ISSUER: ${HTTPS}, a query or a ${FIX}`],
    [
      { MONGODB_URI: 'mongodb://a', MONGODB_COLLECTION: 'a$b' },
      'MONGODB_COLLECTION: expected the name of a collection, found "a$b". Unset it, or set for example MONGODB_COLLECTION=plants',
    ],
    [
      { HEADERS_TIMEOUT_MS: '20000', MANAGEMENT_HOST: '0.0.0.0' },
      'HEADERS_TIMEOUT_MS: expected at most REQUEST_TIMEOUT_MS, since the headers are a part of the request. Lower it, or raise REQUEST_TIMEOUT_MS',
      'MANAGEMENT_HOST: expected only with MANAGEMENT_PORT. Set MANAGEMENT_PORT, or unset it',
    ],
    [
      { ...JWT, JWT_SCOPE: 'two scopes' },
      'JWT_SCOPE: expected a single scope as in RFC 6749, section 3.3. Correct it, or unset it',
    ],
    [
      { MONGODB_URI: 'mongodb://a/?minPoolSize=105' },
      'MONGODB_URI: expected a connection string of MongoDB (minPoolSize must not be above 104). Correct it',
    ],
    [
      { POSTGRESQL_URI: 'postgresql://plants:1234/plants' },
      'POSTGRESQL_URI: expected a connection string of PostgreSQL (it must have a user, one host and a database, and other special characters percent-encoded). Correct it',
    ],
    [{ STORAGE: 'postgresql', POSTGRESQL_URI: 'postgres://a:b@c:5432/d?sslmode=verify-full' }],
    [{ NODE_ENV: 'production' }, NO_STORAGE, NO_VERIFIER],
    [{ NODE_ENV: 'production', MONGODB_URI: 'mongodb://a', ACCESS_TOKEN_SHA256: DIGEST }],
    [{ NODE_ENV: 'production', STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST }],
    [
      { NODE_ENV: 'production', STORAGE: 'memory', JWT_ISSUER: 'https://login.example.com' },
      'JWT_AUDIENCE: expected to be set, since JWT_ISSUER is set. Set it too, or neither',
    ],
    [
      { NODE_ENV: 'production', ACCESS_TOKEN_SHA256: DIGEST, MONGODB_COLLECTION: 'b' },
      'MONGODB_URI: expected to be set, since MONGODB_COLLECTION is set. Set it too, or neither',
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
  const noToken =
    'ACCESS_TOKEN: expected to be set, since an import and an export are made by a client. Set it, or ACCESS_TOKEN_FILE, to a token that the service accepts';
  const noUri =
    'MONGODB_URI: expected to be set, since MONGODB_COLLECTION is set. Set it too, or neither';
  const invalidToken =
    'ACCESS_TOKEN: expected a bearer token, found an empty string. Unset it, or set for example ACCESS_TOKEN=<the first line that `plant-store token` prints>';

  const clients: typeof cases = [
    [{}, NO_STORAGE, NO_VERIFIER, noToken],
    [{ STORAGE: 'memory' }, NO_VERIFIER, noToken],
    [{ STORAGE: 'memory', ...token }],
    [{ MONGODB_URI: 'mongodb://a', ...token }],
    [{ ...token }, NO_STORAGE],
    [{ STORAGE: 'memory', ACCESS_TOKEN: 'a' }, NO_VERIFIER],
    [{ STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST }, noToken],
    [{ ACCESS_TOKEN: '' }, invalidToken, NO_STORAGE, NO_VERIFIER],
    [{ MONGODB_COLLECTION: 'a', ...token, ACCESS_TOKEN: '' }, invalidToken, noUri],
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
});

describe('A secret', () => {
  let folder: string;
  const file = (text: string) => {
    const path = join(folder, 'secret');
    writeFileSync(path, text);
    return path;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('can be in a file, whose last line may end', async () => {
    const env = { STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
    for (const end of ['', '\n', '\r\n']) {
      const ACCESS_TOKEN_FILE = file(`a-token${end}`);
      const { ACCESS_TOKEN } = await readClientConfiguration({ ...env, ACCESS_TOKEN_FILE }, false);
      expect(ACCESS_TOKEN).to.equal('a-token');
    }
    const { storage } = await readConfiguration({ MONGODB_URI_FILE: file('mongodb://a') }, false);
    expect(storage.name).to.equal('mongodb');
    const POSTGRESQL_URI_FILE = file('postgresql://me:pass@a/plants');
    expect((await readConfiguration({ POSTGRESQL_URI_FILE }, false)).storage.name).to.equal(
      'postgresql',
    );
  });

  it('is in one place, and its file can be read', async () => {
    const MONGODB_URI_FILE = join(folder, 'none');
    expect(await problemsOf({ MONGODB_URI_FILE })).to.deep.equal([
      `MONGODB_URI_FILE: expected a file that can be read (ENOENT: no such file or directory, open '${MONGODB_URI_FILE}'). Correct it`,
    ]);
    expect(
      await problemsOf({ MONGODB_URI: 'mongodb://a', MONGODB_URI_FILE: file('mongodb://b') }),
    ).to.deep.equal(['MONGODB_URI, MONGODB_URI_FILE: expected only one of them. Unset the other']);
    expect(await problemsOf({ MONGODB_URI_FILE: file('a-secret') })).to.deep.equal([
      'MONGODB_URI: expected a connection string of MongoDB, found something else. Unset it, or set for example MONGODB_URI=mongodb://127.0.0.1:27017/?replicaSet=plants',
    ]);
  });
});

describe('The token of the README', () => {
  it('is refused in production, in the variable and in the file', async () => {
    const demo = sha256('demo');
    const folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
    const ACCESS_TOKENS_FILE = join(folder, 'tokens');
    writeFileSync(ACCESS_TOKENS_FILE, `${demo.toUpperCase()} nursery\n`);
    for (const tokens of [{ ACCESS_TOKEN_SHA256: `${DIGEST},${demo}` }, { ACCESS_TOKENS_FILE }]) {
      expect(await problemsOf({ ...tokens, STORAGE: 'memory' })).to.deep.equal([]);
      const [problem] = await problemsOf({
        ...{ ...tokens, STORAGE: 'memory', NODE_ENV: 'production' },
      });
      expect(problem).to.match(/^ACCESS_TOKEN.*: expected secret tokens, found `demo`, which the/);
    }
    rmSync(folder, { recursive: true });
  });
});

describe('Advice', () => {
  const advised = async (env: Record<string, string>) =>
    advice(await readConfiguration(env, false));

  it('is complete sentences', async () => {
    const production = { NODE_ENV: 'production', STORAGE: 'memory' };
    expect(await advised({ ...production, ...JWT })).to.deep.equal([
      `STORAGE: ${FORGETS}. Set ${STORES} to keep plants`,
      'JWT_SCOPE: it is not set, so every valid token of the issuer permits creating plants. Set it to the scope that permits it',
    ]);
    const hasty = { MONGODB_URI: 'mongodb://a', REQUEST_DEADLINE_MS: '5000' };
    expect(await advised({ ...hasty, ...JWT, JWT_SCOPE: 'plants' })).to.deep.equal([
      'REQUEST_DEADLINE_MS: creates fail during a failover, since a replica set with default settings takes up to 11 s to elect a primary. Set it to 12000 or more',
    ]);
    expect(await advised({})).to.deep.equal([]);
  });

  it('is about variables of other programs, unless a storage is chosen', async () => {
    const lines = await advised({ MONGO_URL: 'mongodb://a' });
    expect(lines).to.deep.equal([
      'MONGO_URL: ignored, since it is not a variable of this service. Set MONGODB_URI if the storage is meant',
    ]);
    expect(await advised({ STORAGE: 'memory', MONGO_URL: 'mongodb://a' })).to.deep.equal([]);
  });

  it('is about fewer file descriptors than connections', async () => {
    const configuration = await readConfiguration({}, false);
    expect(advice(configuration, 10_100)).to.deep.equal([]);
    expect(advice(configuration, 1024)).to.deep.equal([
      'MAX_CONNECTIONS: the process may open 1024 files, and each connection takes one. Raise the limit to 10100 (ulimit -n), or lower MAX_CONNECTIONS',
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
