import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import {
  ACCESS_TOKEN_SHA256,
  endAll,
  run,
  type Service,
  serve,
  TOKEN,
} from '@plant-store/service-process';
import { expect } from 'chai';
import { BSON, type Document, MongoClient } from 'mongodb';
import { root } from '../root.js';

/** What earlier states have written, when they got the plants of {@link exported}: a folder for each state. */
const FIXTURES = join(root, 'test/deploy/upgrades');
const exported = readFileSync(join(FIXTURES, 'plants.ndjson'), 'utf8');
const plants = exported.trim().split('\n');
const newPlant = String.raw`{"id":-7,"name":"Ficus \u0000","tag":"\\0"}`;
/** The last release. The earlier states have the names of their commits. */
const RELEASE = '1.0.0';

type Environment = Record<string, string>;
type Fixture = { options: Document; documents: Document[] };

function statesWith(file: string): string[] {
  return readdirSync(FIXTURES).filter((state) => existsSync(join(FIXTURES, state, file)));
}

function fixture(state: string, file: string): string {
  return readFileSync(join(FIXTURES, state, file), 'utf8');
}

function environment(state: string, file: string): Environment {
  const lines = fixture(state, file).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/)));
}

/** Resolves with 200, or the error number. */
async function create({ address }: Service, plant: string): Promise<number> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${address}/plants`, { method: 'POST', headers, body: plant });
  const { error = 200 } = JSON.parse(await response.text());
  return error;
}

/** The state of a server is none: tests may have made it slow, or named one that does not exist. */
const STATE = /is slow|is not reachable|cannot be fetched/;

function problems({ stdout }: Service): string[] {
  const lines = stdout().match(/^.*"level":"(?:warn|error)".*$/gm) ?? [];
  return lines.filter((line) => !STATE.test(line));
}

/** Every plant is there, exactly once, and creates work. */
async function expectUsable(service: Service, storage: Environment, expected: readonly string[]) {
  for (const plant of expected) expect(await create(service, plant), plant).to.equal(4006);
  expect(await create(service, newPlant)).to.equal(200);
  const command = run(['export'], { ...storage, ACCESS_TOKEN_SHA256, ACCESS_TOKEN: TOKEN });
  expect(await command.ended, command.stderr()).to.equal(0);
  const [smallest = '', ...rest] = expected;
  expect(command.stdout()).to.equal(`${[smallest, newPlant, ...rest].join('\n')}\n`);
  expect(problems(service)).to.deep.equal([]);
}

describe('The collection of an earlier state', function () {
  this.timeout(60_000);
  let client: MongoClient;
  let storage: Environment;

  before(needsMongod);
  beforeEach(async () => {
    const { uri } = await sharedReplicaSet();
    const database = uri.replace('/?', `/${randomUUID()}?`);
    storage = { MONGODB_URI: database };
    client = new MongoClient(database, { useBigInt64: true });
  });
  afterEach(() => {
    endAll();
    return client.close();
  });

  const written = (state: string): Fixture =>
    BSON.EJSON.parse(fixture(state, 'mongodb.json'), { useBigInt64: true });

  const optionsNow = async () => {
    const [collection] = await client.db().listCollections({}, { nameOnly: false }).toArray();
    return collection?.options;
  };

  const withoutMarks = (documents: readonly Document[]) =>
    documents.map(({ mark, ...rest }) => ({ ...rest, mark: mark._bsontype }));

  for (const state of statesWith('mongodb.json')) {
    it(`is read and written without a warning, and its documents are like those of today: ${state}`, async () => {
      const { options, documents } = written(state);
      const collection = await client.db().createCollection('plants', options);
      await collection.insertMany(documents);
      const service = await serve({ ...storage, ACCESS_TOKEN_SHA256 });
      await expectUsable(service, storage, plants);
      expect(await optionsNow()).to.deep.equal(options);
      await collection.deleteMany({});
      for (const plant of plants) expect(await create(service, plant)).to.equal(200);
      const now = await collection.find().sort({ _id: 1 }).toArray();
      expect(withoutMarks(now)).to.deep.equal(withoutMarks(documents));
    });
  }

  it(`has the validator of today, so that it logs no warning: ${RELEASE}`, async () => {
    const service = await serve({ ...storage, ACCESS_TOKEN_SHA256 });
    expect(await create(service, newPlant)).to.equal(200);
    expect(await optionsNow()).to.deep.equal(written(RELEASE).options);
  });
});

describe('The table of an earlier state', function () {
  this.timeout(60_000);
  let server: PostgresqlServer;
  let storage: Environment;

  before(async function () {
    needsPostgresql.call(this);
    server = await PostgresqlServer.start();
    storage = { POSTGRESQL_URI: server.uri('plant_store') };
  });
  afterEach(async () => {
    endAll();
    await server.run('DROP TABLE plants');
  });
  after(() => server?.stop());

  it(`is read and written without a warning, and its rows are like those of today: ${RELEASE}`, async () => {
    // By the version of its mark, a row shows whether its text has escapes.
    const rows = 'SELECT id, name, tag, substr(mark::text, 15, 1) FROM plants ORDER BY id';
    await server.run(fixture(RELEASE, 'postgresql.sql'));
    const expected = await server.rows(rows);
    const service = await serve({ ...storage, ACCESS_TOKEN_SHA256 });
    await expectUsable(service, storage, plants);
    await server.run('DELETE FROM plants');
    for (const plant of plants) expect(await create(service, plant)).to.equal(200);
    expect(await server.rows(rows)).to.deep.equal(expected);
  });

  for (const state of statesWith('postgresql.sql').filter((it) => it !== RELEASE)) {
    it(`is refused until an administrator runs the statement of the log: ${state}`, async () => {
      await server.run(fixture(state, 'postgresql.sql'));
      const service = await serve({ ...storage, ACCESS_TOKEN_SHA256 });
      const [line] = await service.printed(/^.*"command".*$/m);
      const { command, msg } = JSON.parse(line);
      expect(msg).to.include('is bytea');
      expect(await create(service, newPlant)).to.equal(5030);
      await service.stop();
      await server.run(command);
      const kept = plants.filter((plant) => !plant.includes(String.raw`\u0000`));
      await expectUsable(await serve({ ...storage, ACCESS_TOKEN_SHA256 }), storage, kept);
    });
  }
});

describe('The environment of an earlier state', function () {
  this.timeout(20_000);
  afterEach(endAll);

  for (const state of statesWith('environment')) {
    for (const [file, tokens] of [
      ['environment', { ACCESS_TOKEN_SHA256 }],
      ['environment-of-signed-tokens', {}],
    ] as const) {
      it(`is accepted without a warning: ${state}/${file}`, async () => {
        const service = await serve({ ...environment(state, file), ...tokens });
        expect(await service.stop()).to.equal(0);
        expect(problems(service)).to.deep.equal([]);
      });
    }
  }
});
