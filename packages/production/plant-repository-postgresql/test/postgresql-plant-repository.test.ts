import { rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { errorOf, until } from '@plant-store/contract-suite';
import { mocha } from '@plant-store/contract-suite/mocha';
import {
  type NewPlantFields,
  newPlant,
  type PlantId,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import type { PlantReader } from '@plant-store/plant-reader';
import { describePlantReader } from '@plant-store/plant-reader-contract';
import { describePlantRepository, networkFaults } from '@plant-store/plant-repository-contract';
import {
  CREATE_TABLE,
  postgresqlPlantRepository,
  type StoreEvent,
} from '@plant-store/plant-repository-postgresql';
import { certificates } from '@plant-store/test-servers/certificates';
import type { PostgresqlServer } from '@plant-store/test-servers/postgresql';
import { expect } from 'chai';
import { type PlantRow, plantOf, rowOf } from '../src/table.js';
import { describeOnPostgresql, startServer } from './support/describe-on-postgresql.js';
import { untilNotReady, untilReady } from './support/readiness.js';

const READ_ONLY = 'ALTER ROLE plant_store SET default_transaction_read_only = on';

describeOnPostgresql('a store', () => {
  let server: PostgresqlServer;
  let network: FaultyNetwork;
  let schema: string;
  let schemas = 0;
  let opened: (PlantRepository & PlantReader)[] = [];
  let events: StoreEvent[] = [];

  startServer((started) => (server = started));

  beforeEach(async () => {
    network = await FaultyNetwork.before(server.port, 'insert plants');
    schemas += 1;
    schema = `case_${schemas}`;
    opened = [];
    events = [];
    await server.createTable(schema, CREATE_TABLE);
  });

  afterEach(async () => {
    await server.run('ROLLBACK');
    await server.run('ALTER ROLE plant_store RESET ALL');
    await Promise.all(opened.map((repository) => repository.close()));
    await network.close();
    await server.run(`DROP SCHEMA ${schema} CASCADE`);
  });

  /** @param parameters Of its connection string. */
  function openWith(parameters: Record<string, string>) {
    const uri = new URL(server.uri('plant_store'));
    uri.host = network.host;
    uri.search = `${new URLSearchParams({ options: `-c search_path=${schema}`, ...parameters })}`;
    const observer = (event: StoreEvent) => events.push(event);
    const repository = postgresqlPlantRepository({ uri: uri.href, observer });
    opened.push(repository);
    return repository;
  }

  const open = () => openWith({});

  /** Runs statements that only new connections follow. */
  async function reconnectAfter(statements: string): Promise<void> {
    await server.run(statements);
    await network.cut();
    await network.restore();
  }

  async function stored(id: bigint): Promise<NewPlantFields | undefined> {
    const [row] = await server.rows(`SELECT * FROM ${schema}.plants WHERE id = ${id}`);
    return row && newPlant(plantOf(row as unknown as PlantRow));
  }

  const openStore = async () => ({
    repository: open(),
    stored,
    reopen: async () => open(),
    secrets: [server.password],
    ...networkFaults(network),
    refuseAccess: () =>
      reconnectAfter(`REVOKE SELECT, INSERT ON ${schema}.plants FROM plant_store`),
    refuseWrites: () => reconnectAfter(READ_ONLY),
    async crash() {
      await server.kill();
      await server.restart();
    },
    async holdUncommitted({ id }: NewPlantFields) {
      await server.run(`BEGIN;
        INSERT INTO ${schema}.plants (id, name, mark) VALUES (${id}, '', md5('')::uuid)`);
    },
    relaxDurability: () => reconnectAfter('ALTER ROLE plant_store SET synchronous_commit = off'),
    async commitUnflushed(fields: NewPlantFields) {
      const row = rowOf({ plant: newPlant(fields), mark: randomUUID() });
      const values = Object.values(row).map((it) => (it === null ? 'NULL' : `'${it}'`));
      await server.run(`BEGIN; SET LOCAL synchronous_commit = off;
        INSERT INTO ${schema}.plants (${Object.keys(row)}) VALUES (${values}); COMMIT`);
    },
    async storeNoPlant(id: bigint) {
      const unknownEscape = `'\\x', NULL, '00000000-0000-8000-8000-000000000000'`;
      await server.run(
        `INSERT INTO ${schema}.plants (id, name, tag, mark) VALUES (${id}, ${unknownEscape})`,
      );
    },
    async recover() {
      await server.run('ROLLBACK');
      await network.restore();
      await server.run('ALTER ROLE plant_store RESET ALL');
      await server.run(`GRANT SELECT, INSERT ON ${schema}.plants TO plant_store`);
    },
  });

  describePlantRepository(mocha, 'opened by postgresqlPlantRepository', openStore);
  describePlantReader(mocha, 'opened by postgresqlPlantRepository', openStore);

  const eventsOf = <Type extends StoreEvent['type']>(type: Type) =>
    events.filter((event): event is StoreEvent & { readonly type: Type } => event.type === type);

  const monstera = newPlant({ id: 7n, name: 'Monstera' });
  const isStored = async () => expect(await stored(7n)).to.deep.equal({ id: 7n, name: 'Monstera' });

  it('is available again after its connections were lost and new ones refused', async () => {
    const repository = open();
    await untilReady(repository);
    network.freezeConnections();
    network.refuseConnections();
    await rejects(repository.ready(), StoreUnavailableError);
    await network.restore();
    await untilReady(repository);
  });

  it('waits until the server accepts writes, as in a failover', async () => {
    const repository = open();
    await untilReady(repository);
    await reconnectAfter(READ_ONLY);
    await untilNotReady(repository, /the server is read-only/);
    const adding = repository.add(monstera, 60_000);
    await Promise.race([adding, network.requestPassed()]);
    await server.run('ALTER ROLE plant_store RESET default_transaction_read_only');
    await adding;
    await isStored();
  });

  it('never reports a plant as stored when the wait for its standby is cancelled', async () => {
    await server.run('ALTER ROLE plant_store SET client_min_messages = error');
    await server.withSetting('synchronous_standby_names', 'none', async () => {
      const outcome = rejects(open().add(monstera, 4_500.5), { code: 'OUTCOME_UNKNOWN' });
      const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND query LIKE 'INSERT INTO plants%'`;
      const cancelled = async () => (await server.rows(cancel)).length > 0;
      await until(cancelled, () => 'no insert waits for standbys');
      await outcome;
      await isStored();
    });
    const others = [8n, 9n].map((id) => newPlant({ id, name: 'Fern' }));
    const [repository] = opened;
    for (const other of others) await repository?.add(other, 60_000);
  });

  it('stores nothing and is not ready if fsync is off', async () => {
    const repository = open();
    await server.withSetting('fsync', 'off', async () => {
      await untilNotReady(repository, /fsync is off/);
      await rejects(repository.add(monstera, 60_000), { message: /fsync is off/ });
      expect(await stored(7n)).to.equal(undefined);
    });
    await untilReady(repository);
    await repository.add(monstera, 60_000);
  });

  it('stores nothing while the table is unlogged, even between two checks', async () => {
    const repository = open();
    await repository.add(newPlant({ id: 8n, name: 'Monstera' }), 60_000);
    await server.run(`ALTER TABLE ${schema}.plants SET UNLOGGED`);
    await rejects(repository.add(monstera, 60_000), { message: /is unlogged/ });
    expect(await stored(7n)).to.equal(undefined);
  });

  it('inserts plants in the order of their ids, so that two instances cannot deadlock', async () => {
    const repository = open();
    const plants = [9n, 7n, 8n].map((id) => newPlant({ id, name: 'Fern' }));
    await Promise.all(plants.map((it) => repository.add(it, 60_000)));
    const rows = await server.rows(`SELECT id FROM ${schema}.plants ORDER BY ctid`);
    expect(rows.map(({ id }) => id)).to.deep.equal(['7', '8', '9']);
  });

  it('reads fewer plants in one page if they are large', async () => {
    await server.run(`INSERT INTO ${schema}.plants (id, name, tag, mark)
      SELECT id, repeat('a', 3 * 1024 * 1024), NULL, md5('')::uuid
      FROM generate_series(1, 3) AS id`);
    const repository = open();
    const idsAfter = async (after: PlantId | undefined) =>
      (await repository.read({ after, limit: 10 }, 60_000)).map(({ id }) => id);
    const [first, second, ...others] = await idsAfter(undefined);
    expect([first, second, ...others]).to.deep.equal([1n, 2n]);
    expect(await idsAfter(second)).to.deep.equal([3n]);
  });

  const rules: Record<string, (table: string) => string> = {
    'a policy': (table) =>
      `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
       CREATE POLICY others ON ${table} USING (true) WITH CHECK (id <> 7)`,
    'a trigger': (table) =>
      `CREATE FUNCTION ${schema}.skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER skip BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.skip()`,
    "a trigger's own error code": (table) =>
      `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN RAISE ''not %'', NEW.name USING ERRCODE = ''ZZ001''; END';
       CREATE TRIGGER refuse BEFORE INSERT ON ${table} FOR EACH ROW WHEN (NEW.id = 7)
         EXECUTE FUNCTION ${schema}.refuse()`,
  };

  for (const [what, rule] of Object.entries(rules)) {
    it(`reports a plant that ${what} refuses, without its values`, async () => {
      const repository = open();
      await repository.add(newPlant({ id: 8n, name: 'Monstera' }), 60_000);
      await server.run(rule(`${schema}.plants`));
      const error = await errorOf(repository.add(monstera, 60_000));
      expect(error).to.have.property('name', 'Error');
      expect(eventsOf('plant refused').map(({ id }) => id)).to.deep.equal([7n]);
      expect(inspect([error, events], { depth: 20 })).to.not.include('Monstera');
    });
  }

  const REPAIRS = [
    ['DROP TABLE plants', /^CREATE TABLE plants/],
    ['REVOKE SELECT, INSERT ON plants FROM plant_store', /^GRANT SELECT, INSERT ON plants TO "pl/],
    ['ALTER TABLE plants SET UNLOGGED', /^ALTER TABLE plants SET LOGGED;$/],
  ] as const;

  for (const [fault, command] of REPAIRS) {
    it(`reports once the effect of ${fault}, with the statements that fix it`, async () => {
      const repository = open();
      await server.run(`SET search_path = ${schema}; ${fault}`);
      await untilNotReady(repository, /table plants/);
      await rejects(repository.ready(), StoreUnavailableError);
      const fixes = eventsOf('store warning').map(({ command }) => command);
      expect(fixes).to.have.length(1);
      expect(fixes[0]).to.match(command);
      await server.run(`SET search_path = ${schema}; ${fixes[0]}`);
      await untilReady(repository);
      await repository.add(monstera, 60_000);
    });
  }

  describe('behind a pooler that sends reads to a standby', () => {
    const openBehindPooler = () => openWith({ options: `-c search_path=${schema},pg_catalog` });
    const openFirst = async () => {
      const repository = openBehindPooler();
      await untilReady(repository);
      return repository;
    };

    /** Unknown if an insert is on its way at the deadline, as on a busy machine. */
    const UNDECIDED = ['STORE_UNAVAILABLE', 'OUTCOME_UNKNOWN'];

    /** Stands in for the standby: the schema's function is found before the system's. */
    const beginRecovery = () =>
      server.run(`CREATE FUNCTION ${schema}.pg_is_in_recovery() RETURNS boolean LANGUAGE sql
        AS 'SELECT true'`);

    it('never reports a taken id as a bug while the standby lags', async () => {
      const repository = await openFirst();
      await repository.add(newPlant({ id: 8n, name: 'Monstera' }), 60_000);
      await beginRecovery();
      const taken = await errorOf(repository.add(newPlant({ id: 8n, name: '' }), 1_500.5));
      expect(taken).to.have.property('code').that.is.oneOf(UNDECIDED);
      // As on a standby that lags, no row was inserted, and none is found.
      await server.run(rules['a trigger']?.(`${schema}.plants`) ?? '');
      const error = await errorOf(repository.add(monstera, 1_500.5));
      expect(error).to.have.property('code').that.is.oneOf(UNDECIDED);
      expect(inspect(error)).to.match(/reads reach a standby/);
      expect(eventsOf('plant refused')).to.deep.equal([]);
    });

    it('says why it is not ready, and still stores plants', async () => {
      await openFirst();
      await beginRecovery();
      const repository = openBehindPooler();
      await untilNotReady(
        repository,
        /cannot look up plants.*reads reach a standby, .* \(25006\)/s,
      );
      await repository.add(newPlant({ id: 9n, name: 'Bellis' }), 60_000);
    });

    it('warns exactly once that plants may be missing, even from an empty page', async () => {
      const repository = await openFirst();
      await repository.add(monstera, 60_000);
      await beginRecovery();
      const read = (after: PlantId | undefined) => repository.read({ after, limit: 1 }, 60_000);
      expect(await read(monstera.id)).to.deep.equal([]);
      expect(await read(undefined)).to.have.length(1);
      const warnings = eventsOf('store warning').map(({ message }) => message);
      expect(warnings.filter((it) => it.includes('standby, which may lag'))).to.have.length(1);
    });
  });

  it("keeps the server's message when a permission on another object is missing", async () => {
    // From PostgreSQL 17, it has a fourth parameter.
    const [found] = await server.rows(`SELECT oid::regprocedure::text AS emit FROM pg_proc
      WHERE proname = 'pg_logical_emit_message' AND proargtypes[2] = 'text'::regtype`);
    await server.run(`REVOKE EXECUTE ON FUNCTION ${found?.emit} FROM PUBLIC`);
    const denied = /permission denied for function pg_logical_emit_message \(42501\)/;
    await server
      .withSetting('synchronous_standby_names', 'none', () => untilNotReady(open(), denied))
      .finally(() => server.run(`GRANT EXECUTE ON FUNCTION ${found?.emit} TO PUBLIC`));
    expect(eventsOf('store warning')).to.deep.equal([]);
  });

  describe('with TLS', () => {
    before(() => server.useTls(certificates.server));

    const trusting = () => openWith({ sslmode: 'verify-full', sslrootcert: certificates.ca });

    it('encrypts its connections when the CA is trusted', async () => {
      await trusting().add(monstera, 60_000);
      const isEncrypted = `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE usename = 'plant_store'`;
      expect(await server.rows(isEncrypted)).to.deep.equal([{ ssl: true }]);
    });

    it('sends nothing to a server whose certificate is not trusted', async () => {
      const repository = openWith({ sslmode: 'verify-full' });
      await untilNotReady(repository, /set sslrootcert to the CA certificate/);
      await rejects(repository.add(monstera, 300.5), { code: 'STORE_UNAVAILABLE' });
    });
  });
});
