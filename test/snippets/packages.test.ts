import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { OidcIssuer, signingKey } from '@plant-store/oidc-issuer';
import { expect } from 'chai';
import { Programs } from './programs.js';
import { snippet, withReal } from './snippet.js';

/** Declarations that the snippets need. */
const PLANTS = `
  import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
  const plants = new MemoryPlantRepository();`;
const CLIENT = `
  import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
  const token = newToken();
  const sha256 = tokenDigest(token);
  const tokenVerifier = new StaticTokenVerifier([{ sha256, label: 'nursery' }]);
  const client = await tokenVerifier.verify(token);`;
const OBSERVER = `
  const observer = { begun() {}, ended() {}, failed() {} };
  const ready = () => plants.ready();`;
const STORE = `
  import { MemoryPlantRepository as Memory } from '@plant-store/plant-repository-memory';
  import type { NewPlant } from '@plant-store/domain';
  const kept = new Map<bigint, NewPlant>();
  const repository = new Memory(kept);
  const stored = async (id: bigint) => kept.get(id);
  const reopen = async () => new Memory(kept);
  const cause = async () => {};
  const hooks = {
    stall: cause, silenceAfterWrite: cause, loseNextAcknowledgement: cause, outage: cause,
    refuseAccess: cause, recover: cause,
  };
  const open = async () => ({ repository, stored, reopen, ...hooks });`;
const VERIFIER = `
  import type { AcceptedToken } from '@plant-store/token-verifier-contract';
  import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
  const permissions = ['create plants'] as const;
  const one: AcceptedToken = { token: newToken(), name: 'one', permissions };
  const two: AcceptedToken = { token: newToken(), name: 'two', permissions };
  const accepted = [one, two] as const;
  const refused = { unknown: newToken() };
  const known = accepted.map(({ token, name }) => ({ sha256: tokenDigest(token), label: name }));
  const verifier = new StaticTokenVerifier(known);
  const cause = async () => {};
  const hooks = { outage: cause, stall: cause, malfunction: cause, recover: cause };
  const open = async () => ({ verifier, accepted, refused });`;

const CREATE_PLANT = `
  import { CreatePlant } from '@plant-store/domain';
  const createPlant = new CreatePlant(plants);`;
const READ_PLANTS = `
  import { ReadPlants } from '@plant-store/domain';
  import { open } from 'node:fs/promises';
  const readPlants = new ReadPlants(plants);
  const file = await open('/dev/null', 'a');`;
const SUITES = `
  import { describePlantRepository } from '@plant-store/plant-repository-contract';
  import { describeTokenVerifier } from '@plant-store/token-verifier-contract';`;

const domain = snippet('packages/domain/README.md', 'import {');
const koa = snippet('packages/http-koa/README.md', 'import {');
const ndjson = snippet('packages/import-ndjson/README.md', 'import {');
const exported = snippet('packages/export-ndjson/README.md', 'import {');
const json = snippet('packages/plant-json/README.md', 'import {');
const memory = snippet('packages/plant-repository-memory/README.md', 'import {');
const mongodb = snippet('packages/plant-repository-mongodb/README.md', 'import {');
const jwt = snippet('packages/token-verifier-jwt/README.md', 'import {');
const known = snippet('packages/token-verifier-static/README.md', 'import {');
const store = snippet('packages/plant-repository-contract/README.md', 'import {');
const storeWithout = snippet('packages/plant-repository-contract/README.md', 'describePlant');
const verifier = snippet('packages/token-verifier-contract/README.md', 'import {');
const verifierWithout = snippet('packages/token-verifier-contract/README.md', 'describeToken');

/** The programs around the snippets, by package. Words in capitals are replaced by values of the test. */
const PROGRAMS = {
  domain: PLANTS + CLIENT + domain,
  'http-koa': PLANTS + CLIENT + OBSERVER + withReal(koa, { 'listen(3000,': 'listen(0,' }),
  'import-ndjson': PLANTS + CLIENT + CREATE_PLANT + ndjson,
  'export-ndjson': PLANTS + CLIENT + READ_PLANTS + exported,
  'plant-json': json.replace(
    /^(\w.*); \/\/ (\d+n)$/m,
    "if ($1 !== $2) throw new Error('another id');",
  ),
  'plant-repository-memory': memory,
  'plant-repository-mongodb': withReal(mongodb, {
    'mongodb://127.0.0.1:27017/?replicaSet=rs0': 'MONGODB_URI',
  }),
  'token-verifier-jwt': `const token = 'TOKEN';${withReal(jwt, {
    'https://login.example/realms/garden': 'ISSUER',
  })}if (!client.permissions.has('create plants')) throw new Error('no permission');`,
  'token-verifier-static': known,
};

const SUITE_PROGRAMS = {
  'plant-repository-contract': STORE + store,
  'plant-repository-contract, with a reason': STORE + SUITES + storeWithout,
  'token-verifier-contract': VERIFIER + verifier,
  'token-verifier-contract, with a reason': VERIFIER + SUITES + verifierWithout,
};

describe('The snippet of a package', function () {
  this.timeout(60_000);
  let programs: Programs;
  let issuer: OidcIssuer;

  before(async function () {
    await needsMongod.call(this);
    programs = new Programs();
    issuer = await OidcIssuer.start(await signingKey('first'));
    const real: Readonly<Record<string, string>> = {
      MONGODB_URI: (await sharedReplicaSet()).uri,
      ISSUER: issuer.url,
      TOKEN: await issuer.token(),
    };
    for (const [name, text] of Object.entries({ ...PROGRAMS, ...SUITE_PROGRAMS })) {
      programs.write(
        name,
        text.replaceAll(/'([A-Z_]+)'/g, (_, word) => `'${real[word]}'`),
      );
    }
    await programs.compile();
  });

  after(async () => {
    await issuer?.stop();
    programs?.remove();
  });

  for (const name of Object.keys(PROGRAMS)) {
    it(`runs: ${name}`, async () => {
      await programs.run(name);
    });
  }

  for (const name of Object.keys(SUITE_PROGRAMS)) {
    it(`defines a suite: ${name}`, async () => {
      expect(await programs.list(name)).to.match(/[1-9]\d* passing/);
    });
  }
});
