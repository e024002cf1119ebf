import { rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { errorOf, until } from '@plant-store/contract-suite';
import { newPlant, StoreUnavailableError } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import {
  CREATE_TABLE,
  postgresqlPlantRepository,
  type StoreEvent,
} from '@plant-store/plant-repository-postgresql';
import type { PostgresqlServer } from '@plant-store/test-servers/postgresql';
import { expect } from 'chai';
import { describeOnPostgresql, startServer } from './support/describe-on-postgresql.js';
import { untilNotReady, untilReady } from './support/readiness.js';

const BASE64 = 'A'.repeat(43);

const ROLES = `
  CREATE ROLE rotated LOGIN IN ROLE plant_store;
  CREATE ROLE iterations LOGIN PASSWORD 'SCRAM-SHA-256$200000:c2FsdA==$${BASE64}=:${BASE64}=';
  CREATE ROLE unlisted LOGIN PASSWORD 'x'`;

/** The line of `pg_hba.conf`, which is not for the role `unlisted`. */
const ENTRY = 'postgres,plant_store,rotated,iterations all scram-sha-256';

/** How a server refuses a connection string, and why. */
const REFUSALS: Readonly<Record<string, readonly [uri: string, reason: RegExp]>> = {
  'without a password': ['plant_store@/postgres', /the connection string contains no password/],
  'with a wrong password': ['plant_store:x@/postgres', /user "plant_store" \(28P01\)/],
  'with more SCRAM iterations than pg accepts': ['iterations:x@/postgres', /count 200000/],
  'for a role without an entry in pg_hba.conf': [
    'unlisted:x@/postgres',
    /no pg_hba.conf entry for host .* user "unlisted"/,
  ],
  'with TLS, which the server lacks': ['plant_store:x@/postgres?sslmode=verify-full', /TLS|SSL/],
  'to an unknown database': ['plant_store:a%20pass%2Fword@/x', /database "x" does not exist/],
};

describeOnPostgresql('the connections of a store', () => {
  let server: PostgresqlServer;
  let network: FaultyNetwork;

  startServer(async (started) => {
    server = started;
    await server.run(ROLES);
    await server.createTable('plant_store', CREATE_TABLE);
    const [file] = await server.rows('SHOW hba_file');
    const copy = `COPY (SELECT 'host all ${ENTRY}') TO '${file?.hba_file}'`;
    await server.run(`${copy}; SELECT pg_reload_conf()`);
  });

  beforeEach(async () => {
    network = await FaultyNetwork.before(server.port);
  });

  afterEach(() => network.close());

  for (const [what, [uri, reason]] of Object.entries(REFUSALS)) {
    it(`are closed if the server refuses one ${what}`, async () => {
      const repository = postgresqlPlantRepository({
        uri: `postgresql://${uri.replace('@', `@${network.host}`)}`,
      });
      const isRefused = async () =>
        reason.test(inspect(await errorOf(repository.read({ limit: 1 }, 1_000))));
      await until(isRefused, () => `no read was refused: ${reason}`);
      // A check may be connecting.
      const hasEnded = async () => network.connections <= 1;
      await until(hasEnded, () => `${network.connections} are left`);
      await repository.close();
    });
  }

  it('use the current password in PGPASSFILE if the connection string contains none', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'plant-store-pgpass-')), 'pgpass');
    const change = async (password: string) => {
      writeFileSync(file, `127.0.0.1:*:postgres:rotated:${password}\n`, { mode: 0o600 });
      await server.run(`ALTER ROLE rotated PASSWORD '${password}'`);
    };
    await change('first');
    process.env.PGPASSFILE = file;
    const uri = `postgresql://rotated@${network.host}/postgres?options=-csearch_path%3Dplant_store`;
    const repository = postgresqlPlantRepository({ uri });
    try {
      await repository.add(newPlant({ id: 2n, name: 'Monstera' }), 60_000);
      await change('second');
      await network.cut();
      await network.restore();
      await repository.add(newPlant({ id: 3n, name: 'Monstera' }), 60_000);
    } finally {
      await repository.close();
      delete process.env.PGPASSFILE;
      rmSync(dirname(file), { recursive: true });
    }
  });

  it('make the store report an outage while the server accepts no more of them', async () => {
    const events: StoreEvent['type'][] = [];
    const repository = postgresqlPlantRepository({
      uri: server.uri('plant_store'),
      observer: ({ type }) => events.push(type),
    });
    await untilReady(repository);
    await server.run('ALTER ROLE plant_store CONNECTION LIMIT 1');
    const adding = repository.add(newPlant({ id: 1n, name: 'Monstera' }), 60_000);
    await untilNotReady(repository, /accepts no plants.*too many connections .*\(53300\)/s);
    await rejects(repository.ready(), StoreUnavailableError);
    await server.run('ALTER ROLE plant_store CONNECTION LIMIT -1');
    await adding;
    await untilReady(repository);
    expect(events.filter((type) => type !== 'batch written')).to.deep.equal([
      'store reachable',
      'store unreachable',
      'store reachable',
    ]);
    await repository.close();
  });
});
