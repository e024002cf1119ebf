import { rejects } from 'node:assert/strict';
import { until } from '@plant-store/contract-suite';
import { type NewPlantFields, newPlant } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import type { InsertRequest } from '@plant-store/plant-repository-group-commit';
import { CREATE_TABLE } from '@plant-store/plant-repository-postgresql';
import type { PostgresqlServer } from '@plant-store/test-servers/postgresql';
import { expect } from 'chai';
import { readUri } from '../src/postgresql-connection-string.js';
import { PostgresqlPlantDatabase } from '../src/postgresql-plant-database.js';
import { describeOnPostgresql, startServer } from './support/describe-on-postgresql.js';

/** Plants with the ids 0, 1, and so on. */
function batch(...fields: readonly Partial<NewPlantFields>[]) {
  const plants = fields.map((it, at) => newPlant({ id: BigInt(at), name: 'Monstera', ...it }));
  return { take: () => plants, timeLimitMs: 60_000 };
}

const ROW = `INSERT INTO plants (id, name, mark) VALUES (1, 'Fern', md5('')::uuid)`;

/** Returns the statements for a function that waits for a row in `gate`, and has a value. */
const waiting = (
  returns: string,
  value: string,
) => `CREATE TABLE gate (); GRANT SELECT ON gate TO plant_store;
  CREATE FUNCTION wait() RETURNS ${returns} LANGUAGE plpgsql AS
    'BEGIN WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN ${value}; END'`;

describeOnPostgresql('a statement of the store', () => {
  let server: PostgresqlServer;
  let network: FaultyNetwork;
  let database: PostgresqlPlantDatabase;
  const { signal } = new AbortController();

  startServer((started) => (server = started));

  const insert = (plants: InsertRequest, lost: AbortSignal) =>
    database.newInsert().send(plants, lost);

  beforeEach(async () => {
    network = await FaultyNetwork.before(server.port, 'plants');
    const uri = server.uri('plant_store').replace(server.host, network.host);
    database = new PostgresqlPlantDatabase(readUri(`${uri}?options=-csearch_path%3Dgarden`));
  });

  afterEach(async () => {
    await server.run('ROLLBACK');
    await database.close();
    await network.close();
  });

  async function create(statements: string): Promise<void> {
    await server.run(`DROP SCHEMA IF EXISTS garden CASCADE; CREATE SCHEMA garden;
      SET search_path = garden; ${statements};
      GRANT USAGE ON SCHEMA garden TO plant_store; GRANT SELECT, INSERT ON plants TO plant_store`);
  }

  const openGate = () => server.run('INSERT INTO garden.gate DEFAULT VALUES');

  async function untilWaiting(backends: number): Promise<void> {
    const query = `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    const wait = async () => (await server.rows(query)).length === backends;
    await until(wait, () => `${backends} backends do not wait`);
  }

  it('gives each plant its own outcome in a table without the column tag', async () => {
    await create(`CREATE TABLE plants (id bigint PRIMARY KEY, name text, mark uuid); ${ROW}`);
    await database.check(signal);
    const plants = batch({ id: 1n }, { id: 5n }, { tag: 'tropical' }, { id: -1n });
    const { findings } = await insert(plants, signal);
    expect(findings).to.deep.equal(['taken', 'stored', 'unusable', 'stored']);
  });

  it('gives each plant its own outcome when a column is added during the insert', async () => {
    await create(`CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, mark uuid NOT NULL);
      ${waiting('trigger', 'NEW')};
      CREATE TRIGGER wait BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION wait()`);
    await database.check(signal);
    await server.run('ALTER TABLE garden.plants ADD COLUMN tag text');
    const inserted = insert(batch({ tag: 'tropical' }, {}, {}), signal);
    await untilWaiting(1);
    await database.check(signal);
    await openGate();
    expect((await inserted).findings).to.deep.equal(['unusable', 'stored', 'stored']);
  });

  it('does not report a plant as stored when a trigger skips it', async () => {
    await create(`${CREATE_TABLE};
      CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER skip BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION skip()`);
    const { findings } = await insert(batch({}, {}, {}), signal);
    const skipped = {
      finding: 'plant refused',
      code: 'no row was inserted',
      reason: 'a trigger or policy on the table prevented the insert',
    };
    expect(findings).to.deep.equal(['stored', skipped, 'stored']);
  });

  const FAILURES = {
    'raises its own error code': [`RAISE 'no' USING ERRCODE = 'ZZ001'`, 'plant refused'],
    'lacks a permission': ['INSERT INTO gate DEFAULT VALUES', 'unusable'],
    'names a missing table': ['INSERT INTO audit DEFAULT VALUES', 'unusable'],
    'names a missing column': ['NEW.note := 1', 'unusable'],
  } as const;

  for (const [what, [statement, finding]] of Object.entries(FAILURES)) {
    it(`inserts the other plants when a trigger ${what} for one`, async () => {
      await create(`${CREATE_TABLE}; CREATE TABLE gate ();
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN ${statement}; RETURN NEW; END$$;
        CREATE TRIGGER fail BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.id = 0) EXECUTE FUNCTION fail()`);
      const together = await insert(batch(...Array(40).fill({})), signal);
      const alone = await insert(batch({}), signal);
      const [first, ...others] = [together.findings].flat();
      expect(new Set(others)).to.deep.equal(new Set(['stored']));
      for (const found of [first, ...[alone.findings].flat()]) {
        expect(typeof found === 'object' ? found.finding : found).to.equal(finding);
      }
      expect(`${alone.error}`).to.not.include('Create it');
    });
  }

  it('has no reply if its connection is lost after a part of it was inserted', async () => {
    await create(`${CREATE_TABLE};
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        IF NEW.id = 0 THEN RAISE 'no'; END IF; RAISE 'timeout' USING ERRCODE = '57P05'; END$$;
      CREATE TRIGGER fail BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.id <> 1) EXECUTE FUNCTION fail()`);
    await rejects(insert(batch({}, {}, {}), signal), { message: 'the connection was lost' });
  });

  it('inserts the other plants while another session locks one id', async () => {
    await create(CREATE_TABLE);
    await server.run(`BEGIN; ${ROW}`);
    const { findings } = await insert(batch({}, {}, {}), signal);
    expect(findings).to.deep.equal(['stored', 'not now', 'stored']);
    expect((await insert(batch({ id: 1n }), signal)).findings).to.equal('not now');
  });

  it('recognises its own rows each time it is repeated', async () => {
    await create(`${CREATE_TABLE}; ${ROW}`);
    const repeated = database.newInsert();
    const plants = batch({}, {}, {});
    for (const _ of [1, 2, 3]) {
      const { findings } = await repeated.send(plants, signal);
      expect(findings).to.deep.equal(['stored', 'taken', 'stored']);
    }
    expect((await insert(plants, signal)).findings).to.deep.equal(['taken', 'taken', 'taken']);
  });

  it('reports no plant as stored or taken if it cannot look up marks', async () => {
    await create(`${CREATE_TABLE}; ${ROW}`);
    await server.run(`REVOKE SELECT ON garden.plants FROM plant_store;
      GRANT SELECT (id) ON garden.plants TO plant_store`);
    const existing = await insert(batch({ id: 1n }), signal);
    const partly = await insert(batch({}, {}), signal);
    expect([existing.findings, partly.findings]).to.deep.equal(['not now', 'unknown']);
  });

  it('is sent unprepared after a prepared statement is gone, as behind an old PgBouncer', async () => {
    await create(`${CREATE_TABLE};
      CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DEALLOCATE ALL'; RETURN NULL; END$$;
      CREATE TRIGGER forget AFTER INSERT ON plants FOR EACH STATEMENT EXECUTE FUNCTION forget()`);
    const findings: unknown[] = [];
    for (const id of [0n, 1n, 2n, 3n]) {
      findings.push((await insert(batch({ id }), signal)).findings);
    }
    expect(findings).to.deep.equal(['stored', 'not now', 'stored', 'stored']);
  });

  describe('while every other connection waits', () => {
    const ids = Array.from({ length: 10 }, (_, at) => BigInt(at + 2));
    let others: Promise<unknown>[];

    beforeEach(async () => {
      await create(`${CREATE_TABLE}; ${ROW}; ${waiting('boolean', 'true')};
        ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
        CREATE POLICY waiting ON plants USING (wait())`);
      others = ids.map((id) => insert(batch({ id }), new AbortController().signal));
      others.push(...[1, 2].map((limit) => database.page({ limit }, signal)));
      await untilWaiting(12);
    });

    afterEach(async () => {
      await openGate();
      await Promise.all(others);
    });

    it('has its own connection if it is a check', () => database.check(signal));

    it('is never sent if it is an insert that was given up', async () => {
      const giveUp = new AbortController();
      let isTaken = false;
      const take = () => {
        isTaken = true;
        return batch({}).take();
      };
      const inserting = insert({ take, timeLimitMs: 60_000 }, giveUp.signal);
      giveUp.abort(new Error('given up'));
      await rejects(inserting, { message: 'given up' });
      await openGate();
      await Promise.all(others);
      await insert(batch({ id: 20n }), signal);
      expect(isTaken).to.equal(false);
      expect(await server.rows('SELECT FROM garden.plants WHERE id = 0')).to.have.length(0);
    });
  });

  it('replaces all connections after a check gets no reply, while later checks succeed', async () => {
    await create(CREATE_TABLE);
    await Promise.all([database.check(signal), database.page({ limit: 1 }, signal)]);
    const before = await server.pids();
    const giveUp = new AbortController();
    network.loseResponses('silence');
    // The read of the check.
    const sent = network.requestPassed();
    const checking = database.check(giveUp.signal);
    await sent;
    giveUp.abort(new Error('given up'));
    await rejects(checking);
    const areReplaced = async () => {
      await database.check(signal);
      const pids = await server.pids();
      return !before.some((pid) => pids.includes(pid));
    };
    await until(areReplaced, () => 'connections from before are left');
  });

  it('closes the connection of an insert whose reply is lost, and only that', async () => {
    await create(CREATE_TABLE);
    await database.check(signal);
    const before = network.connections;
    const lost = new AbortController();
    network.loseResponses('silence');
    const sent = network.requestPassed();
    const inserting = insert(batch({ id: 1n }), lost.signal);
    await sent;
    lost.abort(new Error('lost'));
    await rejects(inserting, { message: 'lost' });
    const isClosed = async () => network.connections === before;
    await until(isClosed, () => `${network.connections} connections are left`);
    expect((await insert(batch({ id: 2n }), signal)).findings).to.equal('stored');
  });
});
