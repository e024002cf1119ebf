import { needsPostgresql, PostgresqlServer } from '@plant-store/test-servers/postgresql';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  ownProcesses,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { Client } from 'pg';
import { snippet } from '../support/snippet.js';

const { endAll, run, serve } = ownProcesses();

const PASSWORD = 'choose-a-password';

describe('The statements of docs/postgresql.md', function () {
  this.timeout(60_000);
  let server: PostgresqlServer;

  before(async function () {
    needsPostgresql.call(this);
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
    await server?.stop();
  });

  const uriOf = (role: string, password: string) =>
    server.uri(role, password).replace(/postgres$/, 'plants');

  const ofService = () => uriOf('plant_store', PASSWORD);

  it('set up a database that a check accepts, whose rows show plants as the page says', async () => {
    const env = { POSTGRESQL_URI: ofService(), ACCESS_TOKEN_SHA256 };
    const check = run(['check'], env);
    expect(await check.ended, check.stderr()).to.equal(0);
    expect(check.stdout()).to.match(/^store \(postgresql\): ready$/m);
    const service = await serve(env);
    expect((await createPlant(service.address, 1, 'Monstera')).status).to.equal(200);
    expect((await createPlant(service.address, 2, 'U+0000: \0')).status).to.equal(200);
    const select =
      'SELECT id, name, tag, substr(mark::text, 15, 1) AS version FROM plants ORDER BY id';
    expect(await query(ofService(), select)).to.deep.equal([
      { id: '1', name: 'Monstera', tag: null, version: '4' },
      { id: '2', name: 'U+0000: \\0', tag: null, version: '8' },
    ]);
  });

  it('let the server end the backends of lost connections after a minute', async () => {
    await query(uriOf('postgres', server.password), snippet('docs/postgresql.md', 'ALTER ROLE'));
    const settings = `SELECT current_setting('tcp_keepalives_' || name) AS value
      FROM unnest(ARRAY['idle', 'interval', 'count']) AS name`;
    expect(await query(ofService(), settings)).to.deep.equal(
      ['30', '10', '3'].map((value) => ({ value })),
    );
  });
});

async function query(connectionString: string, statements: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  return client
    .query<object>(statements)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
