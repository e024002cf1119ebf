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
  const signal = () => new AbortController().signal;

  startServer((started) => (server = started));

  const insert = (plants: InsertRequest, lost = signal()) => {
    const it = database.newInsert();
    lost.addEventListener('abort', () => it.lose(lost.reason));
    return it.send(plants);
  };

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

  it('does not report a plant as stored when a trigger skips it', async () => {
    await create(`${CREATE_TABLE};
      CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER skip BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION skip()`);
    const { findings } = await insert(batch({}, {}, {}));
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
      const together = await insert(batch(...Array(40).fill({})));
      const alone = await insert(batch({}));
      const [first, ...others] = [together.findings].flat();
      expect(new Set(others)).to.deep.equal(new Set(['stored']));
      for (const found of [first, ...[alone.findings].flat()]) {
        expect(typeof found === 'object' ? found.finding : found).to.equal(finding);
      }
      expect(`${alone.error}`).to.not.include('Create it');
    });
  }

  it('has fewer plants for a while after one was refused together with others', async () => {
    await create(`${CREATE_TABLE}; ALTER TABLE plants ADD CHECK (name <> '')`);
    const most = database.maxTogether;
    await insert(batch({ name: '' }));
    expect(database.maxTogether).to.equal(most);
    await insert(batch({ name: '' }, ...Array(39).fill({})));
    expect(database.maxTogether).to.equal(10);
    await insert(batch(...Array(10).fill({ name: '' })));
    expect(database.maxTogether).to.equal(10);
    for (let inserts = 0; inserts < 50; inserts += 1) database.newInsert();
    expect(database.maxTogether).to.equal(most);
  });

  const TRIGGERS = {
    'sets the mark': 'NEW.mark := md5(NEW.id::text)::uuid',
    'moves the id': 'NEW.id := NEW.id + 100',
  };

  for (const [what, statement] of Object.entries(TRIGGERS)) {
    it(`never reports a plant as taken that it may have inserted when a trigger ${what}`, async () => {
      await create(`${CREATE_TABLE}; ${ROW};
        CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN ${statement}; RETURN NEW; END$$;
        CREATE TRIGGER change BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.id <> 1) EXECUTE FUNCTION change()`);
      const together = database.newInsert();
      const plants = batch({}, {}, {});
      for (const _ of ['first', 'repeated']) {
        const { findings, error } = await together.send(plants);
        expect(findings).to.deep.equal(['unknown', 'unknown', 'unknown']);
        expect(`${error}`).to.include('a trigger may have changed');
      }
      expect((await insert(batch({ id: 1n }))).findings).to.deep.equal(['taken']);
    });
  }

  it('reports an id as taken even if a trigger or constraint refuses it first', async () => {
    await create(`${CREATE_TABLE}; ALTER TABLE plants ADD CHECK (name <> 'Monstera') NOT VALID; ${ROW};
      CREATE TABLE part (id bigint PRIMARY KEY, name text); INSERT INTO part VALUES (1); GRANT INSERT ON part TO plant_store;
      CREATE FUNCTION copy() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        INSERT INTO part VALUES (NEW.id, NEW.name); RETURN NEW; END$$;
      CREATE TRIGGER copy BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION copy()`);
    const copied = await insert(batch({ id: 1n, name: 'Fern' }));
    const refused = await insert(batch({ id: 1n }, { id: 5n, name: 'Fern' }));
    expect([copied.findings, refused.findings]).to.deep.equal([['taken'], ['taken', 'stored']]);
  });

  it('is unknown if its connection is lost after a part of it was inserted', async () => {
    await create(`${CREATE_TABLE};
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        IF NEW.id = 0 THEN RAISE 'no'; END IF; RAISE 'timeout' USING ERRCODE = '57P05'; END$$;
      CREATE TRIGGER fail BEFORE INSERT ON plants FOR EACH ROW WHEN (NEW.id <> 1) EXECUTE FUNCTION fail()`);
    const { findings } = await insert(batch({}, {}, {}));
    expect(findings).to.equal('unknown');
  });

  it('inserts the other plants while another session locks one id', async () => {
    await create(CREATE_TABLE);
    await server.run(`BEGIN; ${ROW}`);
    const { findings } = await insert(batch({}, {}, {}));
    expect(findings).to.deep.equal(['stored', 'not now', 'stored']);
    expect((await insert(batch({ id: 1n }))).findings).to.deep.equal(['not now']);
  });

  it('recognises its own rows each time it is repeated', async () => {
    await create(`${CREATE_TABLE}; ${ROW}`);
    const repeated = database.newInsert();
    const plants = batch({}, {}, {});
    for (const _ of [1, 2, 3]) {
      const { findings } = await repeated.send(plants);
      expect(findings).to.deep.equal(['stored', 'taken', 'stored']);
    }
    expect((await insert(plants)).findings).to.deep.equal(['taken', 'taken', 'taken']);
  });

  it('reports no plant as stored or taken if it cannot look up marks', async () => {
    await create(`${CREATE_TABLE}; ${ROW}`);
    await server.run(`REVOKE SELECT ON garden.plants FROM plant_store;
      GRANT SELECT (id) ON garden.plants TO plant_store`);
    const existing = await insert(batch({ id: 1n }));
    const partly = await insert(batch({}, {}));
    expect([existing.findings, partly.findings]).to.deep.equal(['not now', 'unknown']);
  });

  it('is sent unprepared after a prepared statement is gone, as behind an old PgBouncer', async () => {
    await create(`${CREATE_TABLE};
      CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DEALLOCATE ALL'; RETURN NULL; END$$;
      CREATE TRIGGER forget AFTER INSERT ON plants FOR EACH STATEMENT EXECUTE FUNCTION forget()`);
    const findings: unknown[] = [];
    for (const id of [0n, 1n, 2n, 3n]) {
      findings.push((await insert(batch({ id }))).findings);
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
      others = ids.map((id) => insert(batch({ id })));
      others.push(...[1, 2].map((limit) => database.page({ limit }, signal())));
      await untilWaiting(12);
    });

    afterEach(async () => {
      await openGate();
      await Promise.all(others);
    });

    it('has its own connection if it is a check', () => database.check(signal()));

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
      await insert(batch({ id: 20n }));
      expect(isTaken).to.equal(false);
      expect(await server.rows('SELECT FROM garden.plants WHERE id = 0')).to.have.length(0);
    });
  });

  const GIVEN_UP = {
    'an insert': (giveUp: AbortSignal) => insert(batch({}), giveUp),
    'a page': (giveUp: AbortSignal) => database.page({ limit: 1 }, giveUp),
    'a check': (giveUp: AbortSignal) => database.check(giveUp),
  };

  for (const [what, call] of Object.entries(GIVEN_UP)) {
    it(`replaces the connections that may be lost when ${what} is given up without a reply`, async () => {
      await create(CREATE_TABLE);
      const useAll = async () => {
        await Promise.all([database.page({ limit: 1 }, signal()), insert(batch({ id: 1n }))]);
        await database.check(signal());
      };
      await useAll();
      const before = await server.pids();
      const giveUp = new AbortController();
      network.loseResponses('silence');
      const sent = network.requestPassed();
      const calling = call(giveUp.signal);
      await sent;
      giveUp.abort(new Error('given up'));
      await rejects(calling, { message: 'given up' });
      // The server may only be slow, unless it is an insert.
      if (what !== 'an insert') expect(await server.pids()).to.deep.equal(before);
      const areReplaced = async () => {
        const pids = await server.pids();
        if (before.some((pid) => pids.includes(pid))) await database.check(signal());
        return !before.some((pid) => pids.includes(pid));
      };
      await until(areReplaced, () => 'connections from before are left');
      await useAll();
    });
  }
});
