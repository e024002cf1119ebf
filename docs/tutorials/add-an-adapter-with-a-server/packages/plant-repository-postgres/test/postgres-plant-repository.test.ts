import { rejects } from 'node:assert/strict';
import { inspect } from 'node:util';
import {
  type NewPlantFields,
  newPlant,
  type StorageEvent,
  StorageUnavailableError,
} from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { CREATE_TABLE, PostgresPlantRepository } from '@plant-store/plant-repository-postgres';
import { expect } from 'chai';
import { type Outcome, outcomeOf } from '../src/outcome.js';
import { needsPostgres, PostgresServer } from './postgres-server.js';

describe('On a real PostgreSQL', () => {
  before(needsPostgres);
  describe('a store', describeStore);
});

/** Its hooks do not run where there is no server. */
function describeStore(this: Mocha.Suite): void {
  this.timeout(60_000);
  let server: PostgresServer;
  let network: FaultyNetwork;
  let schema: string;
  let schemas = 0;
  let opened: PostgresPlantRepository[] = [];
  let events: StorageEvent[] = [];

  before(async () => {
    server = await PostgresServer.start();
  });

  after(() => server.stop());

  beforeEach(async () => {
    network = await FaultyNetwork.before(server.port, 'set_config');
    schemas += 1;
    schema = `case_${schemas}`;
    opened = [];
    events = [];
    await server.createTable(schema);
  });

  afterEach(async () => {
    await Promise.all(opened.map((repository) => repository.close()));
    await network.close();
  });

  /** @param settings Of its sessions, as `postgres -c` takes them. */
  function open(settings = '', password = server.password): PostgresPlantRepository {
    const url = new URL(server.url('plant_store', password));
    url.host = network.host;
    url.searchParams.set('options', `-c search_path=${schema} ${settings}`);
    const observer = (event: StorageEvent) => events.push(event);
    const repository = new PostgresPlantRepository({ url: url.href, observer });
    opened.push(repository);
    return repository;
  }

  async function stored(id: bigint): Promise<NewPlantFields | undefined> {
    const [row] = await server.rows(
      `SELECT encode(name, 'base64') AS name, encode(tag, 'base64') AS tag
       FROM ${schema}.plants WHERE id = ${id}`,
    );
    if (row === undefined) return undefined;
    const name = textOf(row.name);
    return row.tag === null ? { id, name } : { id, name, tag: textOf(row.tag) };
  }

  const textOf = (base64: unknown) => Buffer.from(`${base64}`, 'base64').toString();

  describePlantRepository('PostgresPlantRepository', async () => ({
    repository: open(),
    stored,
    reopen: async () => open(),
    secrets: [server.password],
    stall: async () => network.freeze(),
    silenceAfterWrite: async () => network.loseResponses('freeze'),
    loseNextAcknowledgement: async () => network.loseResponses('cut'),
    outage: () => network.cut(),
    async refuseAccess() {
      await server.run(`REVOKE INSERT ON ${schema}.plants FROM plant_store`);
    },
    async crash() {
      await server.kill();
      await server.restart();
    },
    async recover() {
      await network.restore();
      await server.run(`GRANT INSERT ON ${schema}.plants TO plant_store`);
    },
  }));

  const monstera = newPlant({ id: 7n, name: 'Monstera' });
  const unavailable = (waits: boolean) => (error: unknown) =>
    error instanceof StorageUnavailableError && error.waits === waits;

  it('reports at once that access is denied when the password is wrong', async () => {
    const repository = open('', 'wrong');
    await rejects(repository.ready(), unavailable(false));
    await rejects(repository.add(monstera, 10_000), StorageUnavailableError);
  });

  it('waits until the server accepts writes, as in a failover', async () => {
    await server.run('ALTER ROLE plant_store SET default_transaction_read_only = on');
    const repository = open();
    await rejects(repository.ready(), unavailable(true));
    const adding = repository.add(monstera, 10_000);
    await Promise.race([adding, network.requestPassed()]);
    await server.run(`ALTER ROLE plant_store RESET default_transaction_read_only;
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plant_store'`);
    await adding;
    expect(await stored(7n)).to.deep.equal({ id: 7n, name: 'Monstera' });
  });

  it('tries again when the server has cancelled the insert', async () => {
    const repository = open('-c statement_timeout=50');
    await server.run(`BEGIN; LOCK TABLE ${schema}.plants`);
    const adding = repository.add(monstera, 10_000);
    await Promise.race([adding, network.requestPassed()]);
    await Promise.race([adding, network.requestPassed()]);
    await server.run('COMMIT');
    await adding;
    expect(await stored(7n)).to.deep.equal({ id: 7n, name: 'Monstera' });
  });

  const outcomes: Record<string, Outcome> = {
    '25006': 'not stored',
    '40P01': 'not stored',
    '40003': 'unclear',
    '42501': 'access denied',
    '53300': 'not stored',
    '57014': 'not stored',
    '57P01': 'unclear',
    XX000: 'unclear',
  };

  for (const [code, outcome] of Object.entries(outcomes)) {
    it(`classifies an insert that ends with ${code} as ${outcome}`, async () => {
      const raise = server.run(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`);
      const error = await raise.catch((reason: unknown) => reason);
      expect(outcomeOf(error, true)).to.equal(outcome);
    });
  }

  it('stores durably, whatever the default of the server is', async () => {
    const repository = open('-c synchronous_commit=off');
    await repository.add(monstera, 10_000);
    await server.kill();
    await server.restart();
    expect(await stored(7n)).to.deep.equal({ id: 7n, name: 'Monstera' });
  });

  const rules: Record<string, (table: string) => string> = {
    'a constraint': (table) => `ALTER TABLE ${table} ADD CHECK (id <> 7)`,
    'another unique index': (table) => `CREATE UNIQUE INDEX ON ${table} (name)`,
    'a trigger': (table) =>
      `CREATE FUNCTION ${schema}.skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER skip BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.skip()`,
  };

  for (const [what, rule] of Object.entries(rules)) {
    it(`reports a plant that ${what} refuses, without its values`, async () => {
      const repository = open();
      await repository.add(newPlant({ id: 8n, name: 'Monstera' }), 10_000);
      await server.run(rule(`${schema}.plants`));
      const error = await repository.add(monstera, 10_000).catch((reason: unknown) => reason);
      expect(error).to.have.property('name', 'Error');
      expect(events).to.have.length(1);
      expect(events[0]).to.include({ type: 'plant refused', id: 7n });
      const hex = Buffer.from('Monstera').toString('hex');
      expect(inspect([error, events], { depth: 20 })).to.not.match(RegExp(`Monstera|${hex}`));
    });
  }

  it('reports once how to create the table', async () => {
    const repository = open();
    await server.run(`DROP TABLE ${schema}.plants`);
    await rejects(repository.ready(), unavailable(false));
    await rejects(repository.ready(), unavailable(false));
    expect(events.map(({ type }) => type)).to.deep.equal(['storage warning']);
    expect(events[0]).to.include({ command: CREATE_TABLE });
  });
}
