import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import { ACCESS_TOKEN_SHA256, endAll, run, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { numbered, PlantFiles, startImport } from '../../plant-files.js';

/** The number of plants; `MOVED_PLANTS` sets it. */
const PLANTS = Number(process.env.MOVED_PLANTS ?? 1_000);
/** In the order of their ids. */
const LIMITS = [
  ['{"id":-9223372036854775808,"name":"the smallest"}\n', '{"id":-9,"name":"\\u0000","tag":""}\n'],
  ['{"id":9223372036854775807,"name":"the largest 🌵","tag":"\u2028\\u0000"}\n'],
] as const;

describe('plant-store export, moving plants from MongoDB to PostgreSQL and back,', () => {
  before(needsMongod);
  before(needsPostgresql);
  describe('with both servers', describeMove);
});

/** Its hooks do not run where a server is missing. */
function describeMove(this: Mocha.Suite): void {
  this.timeout(60_000 + 2 * PLANTS);
  const files = new PlantFiles();
  let server: PostgresqlServer;

  before(async () => {
    server = await PostgresqlServer.start();
    await server.createTable('plant_store');
  });

  after(async () => {
    endAll();
    files.remove();
    await server.stop();
  });

  const newCollection = async () => ({
    MONGODB_URI: (await sharedReplicaSet()).uri,
    MONGODB_COLLECTION: randomUUID(),
  });

  async function importAll(file: string, env: Record<string, string>): Promise<void> {
    const it = startImport([file], env);
    expect(await it.ended, it.stderr()).to.equal(0);
  }

  async function exportAll(env: Record<string, string>): Promise<string> {
    const file = files.newPath();
    const it = run(['export', file], { ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256, ...env });
    expect(await it.ended, it.stderr()).to.equal(0);
    return file;
  }

  it('keeps each of them exactly', async () => {
    const [smallest, largest] = LIMITS;
    const lines = [...smallest, ...numbered(PLANTS), ...largest];
    const [first, second] = [await newCollection(), await newCollection()];
    await importAll(await files.write(lines), first);
    const postgresql = { POSTGRESQL_URI: server.uri('plant_store') };
    await importAll(await exportAll(first), postgresql);
    await importAll(await exportAll(postgresql), second);
    expect(readFileSync(await exportAll(second), 'utf8')).to.equal(lines.join(''));
  });
}
