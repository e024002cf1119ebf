import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { Client } from 'pg';
import { snippet } from './snippet.js';

const PASSWORD = 'choose-a-password';

describe('The statements of docs/postgresql.md', () => {
  before(needsPostgresql);
  describe('on a server', describeStatements);
});

/** Its hooks do not run where there is no server. */
function describeStatements(this: Mocha.Suite): void {
  this.timeout(60_000);
  let server: PostgresqlServer;

  before(async () => {
    server = await PostgresqlServer.start();
    await server.run('DROP ROLE plant_store');
    const [inServer, inDatabase] = snippet('docs/postgresql.md', 'CREATE ROLE').split(
      '\\connect plants\n',
    );
    for (const statement of (inServer ?? '').trim().split('\n')) await server.run(statement);
    await query(uriOf('postgres', server.password), inDatabase ?? '');
  });

  after(async () => {
    endAll();
    await server.stop();
  });

  const uriOf = (role: string, password: string) =>
    server.uri(role, password).replace(/postgres$/, 'plants');

  it('set up a database in which the service keeps plants, and read them', async () => {
    const POSTGRESQL_URI = uriOf('plant_store', PASSWORD);
    const service = await serve({ POSTGRESQL_URI, ACCESS_TOKEN_SHA256 });
    expect((await createPlant(service.address, 1, 'Monstera')).status).to.equal(200);
    const select = snippet('docs/postgresql.md', 'SELECT id');
    expect(await query(POSTGRESQL_URI, select)).to.deep.equal([
      { id: '1', name: 'Monstera', tag: null },
    ]);
  });
}

async function query(connectionString: string, statements: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  return client
    .query<object>(statements)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
