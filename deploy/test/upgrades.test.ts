import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newDatabase } from '@plant-store/test-servers/mongod';
import { needsPostgresql, PostgresqlServer } from '@plant-store/test-servers/postgresql';
import {
  ACCESS_TOKEN_SHA256,
  endAll,
  postPlant,
  run,
  type Service,
  serve,
  TOKEN,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { BSON, type Document, MongoClient } from 'mongodb';
import { read, root } from '../../test/support/root.js';

/** What each release has written, when it got the plants of `plants.ndjson`. */
const FIXTURES = 'deploy/test/upgrades';
const plants = read(`${FIXTURES}/plants.ndjson`).trim().split('\n');
const newPlant = String.raw`{"id":-7,"name":"Ficus \u0000","tag":"\\0"}`;
const releases = readdirSync(join(root, FIXTURES)).filter((name) => name !== 'plants.ndjson');

type Environment = Record<string, string>;

/** Resolves with 200, or the error number. */
async function create({ address }: Service, plant: string): Promise<number> {
  const response = await postPlant(address, plant);
  const { error = 200 } = JSON.parse(await response.text());
  return error;
}

/** The state of a server is none: tests may have made it slow, or named one that does not exist. */
const STATE = /is slow|is not reachable|cannot be fetched/;

function expectNoProblem({ stdout }: Service): void {
  const lines = stdout().match(/^.*"level":"(?:warn|error)".*$/gm) ?? [];
  expect(lines.filter((line) => !STATE.test(line))).to.deep.equal([]);
}

for (const release of releases) {
  const fixture = (file: string) => read(`${FIXTURES}/${release}/${file}`);

  describe(`What ${release} wrote is read and written as today, without a warning`, function () {
    this.timeout(60_000);
    afterEach(endAll);

    /** Expects each plant once, and that creates work. `clear` removes all; they are created again, for a comparison. */
    async function expectUsable(store: Environment, clear: () => Promise<unknown>) {
      const service = await serve({ ...store, ACCESS_TOKEN_SHA256 });
      for (const plant of plants) expect(await create(service, plant), plant).to.equal(4006);
      expect(await create(service, newPlant)).to.equal(200);
      const command = run(['export'], { ...store, ACCESS_TOKEN_SHA256, ACCESS_TOKEN: TOKEN });
      expect(await command.ended, command.stderr()).to.equal(0);
      const [smallest = '', ...rest] = plants;
      expect(command.stdout()).to.equal(`${[smallest, newPlant, ...rest].join('\n')}\n`);
      await clear();
      for (const plant of plants) expect(await create(service, plant)).to.equal(200);
      expectNoProblem(service);
    }

    it('in MongoDB', async function () {
      const MONGODB_URI = await newDatabase(this);
      await using client = new MongoClient(MONGODB_URI, { useBigInt64: true });
      const { options, documents } = BSON.EJSON.parse(fixture('mongodb.json'), {
        useBigInt64: true,
      });
      const collection = await client.db().createCollection('plants', options);
      await collection.insertMany(documents);
      await expectUsable({ MONGODB_URI }, () => collection.deleteMany({}));
      const withoutMarks = (found: readonly Document[]) =>
        found.map(({ mark, ...rest }) => ({ ...rest, mark: mark._bsontype }));
      const now = await collection.find().sort({ _id: 1 }).toArray();
      expect(withoutMarks(now)).to.deep.equal(withoutMarks(documents));
      expect(await collection.options()).to.deep.equal(options);
    });

    it('in PostgreSQL', async function () {
      needsPostgresql.call(this);
      const server = await PostgresqlServer.start();
      await server.run(fixture('postgresql.sql'));
      // By the version of its mark, a row shows whether its text has escapes.
      const rows = 'SELECT id, name, tag, substr(mark::text, 15, 1) FROM plants ORDER BY id';
      const expected = await server.rows(rows);
      const store = { POSTGRESQL_URI: server.uri('plant_store') };
      await expectUsable(store, () => server.run('DELETE FROM plants'));
      expect(await server.rows(rows)).to.deep.equal(expected);
      await server.stop();
    });

    for (const [file, tokens] of [
      ['environment', { ACCESS_TOKEN_SHA256 }],
      ['environment-of-signed-tokens', {}],
    ] as const) {
      it(`as ${file}`, async () => {
        const lines = fixture(file).trim().split('\n');
        const environment = Object.fromEntries(lines.map((line) => line.split(/=(.*)/)));
        const service = await serve({ ...environment, ...tokens });
        expect(await service.stop()).to.equal(0);
        expectNoProblem(service);
      });
    }
  });
}
