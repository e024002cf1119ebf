import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findMongod, sharedReplicaSet } from '@plant-store/mongod';
import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import { ACCESS_TOKEN_SHA256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { result, stopAll } from './support/in-process.js';
import { numbered, PlantFiles, startExport, startImport } from './support/plant-files.js';

/** In the order of their ids. */
const PLANTS = [
  '{"id":-9223372036854775808,"name":"the smallest"}\n',
  '{"id":-10,"name":"","tag":""}\n',
  '{"id":-9,"name":"a\\u0000b","tag":"\u2028 🌵"}\n',
  '{"id":9007199254740992,"name":"a double","tag":"\\"\\\\\\n"}\n',
  ...numbered(200),
  '{"id":9223372036854775807,"name":"the largest 🌵","tag":"\u2028\\u0000"}\n',
];

describe('The service on PostgreSQL', function () {
  this.timeout(120_000);
  const files = new PlantFiles();
  let server: PostgresqlServer | undefined;
  let env: Record<string, string>;

  before(needsPostgresql);

  before(async () => {
    server = await PostgresqlServer.start();
    await server.createTable('plant_store');
    env = { POSTGRESQL_URI: server.uri('plant_store'), ACCESS_TOKEN_SHA256 };
  });

  afterEach(stopAll);

  after(async () => {
    files.remove();
    await server?.stop();
  });

  it('is checked, and keeps each plant exactly that is moved to it from MongoDB, and back', async function () {
    const { code, out } = await result(['check'], env);
    expect(code).to.equal(0);
    expect(out).to.match(/^storage \(postgresql\): ready$/m);

    if ((await findMongod()) === undefined) this.skip();
    const { uri: MONGODB_URI } = await sharedReplicaSet();
    const store = () => ({ MONGODB_URI, MONGODB_COLLECTION: randomUUID() });
    const importAll = async (file: string, to: Record<string, string>) => {
      const it = startImport([file], to);
      expect(await it.ended, it.err).to.equal(0);
    };
    const exportAll = async (from: Record<string, string>) => {
      const file = files.newPath();
      const it = startExport([file], from);
      expect(await it.ended, it.err).to.equal(0);
      return file;
    };
    const [first, second] = [store(), store()];
    await importAll(await files.write([...PLANTS].reverse()), first);
    await importAll(await exportAll(first), env);
    await importAll(await exportAll(env), second);
    expect(readFileSync(await exportAll(second), 'utf8')).to.equal(PLANTS.join(''));
  });
});
