import { rejects } from 'node:assert/strict';
import { newPlant, type PlantRepository } from '@plant-store/domain';
import {
  CREATE_TABLE,
  postgresqlPlantRepository,
  type StoreEvent,
} from '@plant-store/plant-repository-postgresql';
import type { PostgresqlServer } from '@plant-store/test-servers/postgresql';
import { expect } from 'chai';
import { Client } from 'pg';
import { describeOnPostgresql, startServer } from './support/describe-on-postgresql.js';
import { untilNotReady, untilReady } from './support/readiness.js';

const monstera = newPlant({ id: 1n, name: 'Monstera' });

const COLUMNS = 'name text NOT NULL, tag text, mark uuid NOT NULL';

const WORKS: Readonly<Record<string, string>> = {
  'a unique index instead of a primary key': `CREATE TABLE plants (id bigint, ${COLUMNS});
    CREATE UNIQUE INDEX ON plants (id)`,
  'a primary key of another name': `CREATE TABLE plants (id bigint CONSTRAINT x PRIMARY KEY, ${COLUMNS})`,
  'nullable columns in another order, without a limit':
    'CREATE TABLE plants (mark uuid, tag varchar, name varchar, id bigint PRIMARY KEY)',
  'further columns that may be empty': `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS},
    note text, added timestamptz NOT NULL DEFAULT now(), number int GENERATED ALWAYS AS IDENTITY,
    length int NOT NULL GENERATED ALWAYS AS (length(name)) STORED)`,
  'a sequence as a default': `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}, number serial);
    GRANT USAGE ON SEQUENCE plants_number_seq TO plant_store`,
  'a trigger that warns': `${CREATE_TABLE};
    CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''new''; RETURN NEW; END';
    CREATE TRIGGER warn BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION warn()`,
  'a required column that a trigger fills': `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}, owner text NOT NULL);
    CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.owner := ''me''; RETURN NEW; END';
    CREATE TRIGGER own BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION own()`,
  'row-level security and policies': `${CREATE_TABLE}; ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
    CREATE POLICY all_plants ON plants USING (true)`,
};

const REFUSED: Readonly<Record<string, readonly [statements: string, reason: RegExp]>> = {
  'a partial unique index on its id': [
    `CREATE TABLE plants (id bigint, ${COLUMNS}); CREATE UNIQUE INDEX ON plants (id) WHERE id > 0`,
    /the column id of the table plants is not unique/,
  ],
  'a deferrable primary key': [
    `CREATE TABLE plants (id bigint PRIMARY KEY DEFERRABLE, ${COLUMNS})`,
    /the column id .* or its index is partial or deferrable/,
  ],
  'an id of 32 bits': [
    `CREATE TABLE plants (id int PRIMARY KEY, ${COLUMNS})`,
    /the column id of the table plants must be bigint, but is integer/,
  ],
  'a length limit on the name': [
    'CREATE TABLE plants (id bigint PRIMARY KEY, name varchar(200), tag text, mark uuid)',
    /the column name of the table plants must be text, but is character varying\(200\)/,
  ],
  'a tag that must not be null': [
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text, tag text NOT NULL, mark uuid)',
    /the column tag of the table plants is NOT NULL/,
  ],
  'a further column that is required, and a foreign key of another table': [
    `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}, owner text NOT NULL);
     CREATE TABLE orders (plant bigint REFERENCES plants (id))`,
    /the column owner of the table plants is NOT NULL\. Make it nullable/,
  ],
  'a rule that discards inserts': [
    `${CREATE_TABLE}; CREATE RULE discard AS ON INSERT TO plants DO INSTEAD NOTHING`,
    /cannot perform INSERT RETURNING on relation "plants" \(0A000\)/,
  ],
  'row-level security without a policy': [
    `${CREATE_TABLE}; ALTER TABLE plants ENABLE ROW LEVEL SECURITY`,
    /row-level security of the table plants has no policy for INSERT\. Create one/,
  ],
  'a row-level policy for inserts only': [
    `${CREATE_TABLE}; ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
     CREATE POLICY inserts ON plants FOR INSERT WITH CHECK (true)`,
    /row-level security of the table plants has no policy for SELECT/,
  ],
  'a sequence without a permission': [
    `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}, number serial)`,
    /the permission USAGE on the sequence plants_number_seq is missing\. Grant it/,
  ],
  'policies that are off for the role': [
    `${CREATE_TABLE}; ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
     CREATE POLICY all_plants ON plants USING (true);
     ALTER ROLE plant_store SET row_security = off`,
    /query would be affected by row-level security policy for table "plants" \(42501\)/,
  ],
  'a key of several columns': [
    `CREATE TABLE plants (garden int DEFAULT 1, id bigint, ${COLUMNS}, PRIMARY KEY (garden, id))`,
    /the column id of the table plants is not unique/,
  ],
  'no column tag': [
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, mark uuid NOT NULL)',
    /the column tag of the table plants must be text, but is missing/,
  ],
  'another table that inherits from it': [
    `${CREATE_TABLE}; CREATE TABLE versions () INHERITS (plants)`,
    /versions inherits from the table plants, so an id can exist twice/,
  ],
  partitions: [
    `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}) PARTITION BY RANGE (id);
     CREATE TABLE every_plant PARTITION OF plants DEFAULT`,
    /plants is not an ordinary table/,
  ],
};

describeOnPostgresql('a table that an administrator has created', () => {
  let server: PostgresqlServer;
  let events: StoreEvent[];
  const opened: PlantRepository[] = [];

  startServer((started) => (server = started));

  // A repository that a failed test has left open would keep Mocha running.
  afterEach(() => Promise.all(opened.splice(0).map((it) => it.close())));

  async function open(statements: string) {
    return watch(await created(statements));
  }

  function watch(uri: string) {
    events = [];
    const observer = (event: StoreEvent) => events.push(event);
    const repository = postgresqlPlantRepository({ uri, observer });
    opened.push(repository);
    return repository;
  }

  async function created(statements: string): Promise<string> {
    await server.run(`ALTER ROLE plant_store RESET ALL; ALTER ROLE plant_store IN DATABASE postgres RESET ALL;
      DROP SCHEMA IF EXISTS garden, moved CASCADE; CREATE SCHEMA garden;
      SET search_path = garden; ${statements};
      GRANT USAGE ON SCHEMA garden TO plant_store; GRANT SELECT, INSERT ON plants TO plant_store`);
    return `${server.uri('plant_store')}?options=-c%20search_path%3Dgarden`;
  }

  for (const [what, statements] of Object.entries(WORKS)) {
    it(`may have ${what}`, async () => {
      const repository = await open(statements);
      await repository.add(monstera, 60_000);
      const another = repository.add(newPlant({ ...monstera, name: 'Fern' }), 60_000);
      await rejects(another, { code: 'PLANT_ID_TAKEN' });
      expect(await repository.read({ limit: 10 }, 60_000)).to.deep.equal([monstera]);
    });
  }

  for (const [what, [statements, message]] of Object.entries(REFUSED)) {
    it(`is refused immediately with ${what}`, async () => {
      const repository = await open(statements);
      await untilNotReady(repository, message);
      await rejects(repository.add(monstera, 60_000), { code: 'STORE_UNAVAILABLE', message });
    });
  }

  const ELSEWHERE: Readonly<Record<string, readonly [fault: string, reason: RegExp, fix: string]>> =
    {
      'in a schema that the search path does not name': [
        'ALTER ROLE plant_store RESET ALL',
        /the table plants is in the schema garden, which the search_path of the role lacks\. Add it/,
        'ALTER ROLE "plant_store" IN DATABASE postgres SET search_path = garden, "$user", public;',
      ],
      'in a schema without the permission USAGE': [
        `REVOKE USAGE ON SCHEMA garden FROM plant_store;
       ALTER ROLE plant_store IN DATABASE postgres SET search_path = garden`,
        /the role lacks USAGE on the schema garden of the table plants\. Grant it/,
        'GRANT USAGE ON SCHEMA garden TO "plant_store";',
      ],
    };

  for (const [what, [fault, reason, fix]] of Object.entries(ELSEWHERE)) {
    it(`is found ${what}, and never created a second time`, async () => {
      await created(CREATE_TABLE);
      await server.run(fault);
      const repository = watch(server.uri('plant_store'));
      await untilNotReady(repository, reason);
      expect(commands()).to.deep.equal([fix]);
      await server.run(fix);
      await untilReady(repository);
      await repository.add(monstera, 60_000);
      expect(await server.rows('SELECT id FROM garden.plants')).to.have.length(1);
    });
  }

  const commands = () => events.flatMap((it) => (it.type === 'store warning' ? [it.command] : []));

  it('is named, and never created a second time, when it was renamed', async () => {
    const repository = await open(CREATE_TABLE);
    await untilReady(repository);
    await server.run('ALTER TABLE garden.plants RENAME TO plants_before');
    await untilNotReady(repository, /does not exist, but garden\.plants_before has its columns/);
    expect(commands()).to.deep.equal([]);
    await server.run('ALTER TABLE garden.plants_before RENAME TO plants');
    await untilReady(repository);
  });

  it('gets a primary key by the printed statement only if it has no other key', async () => {
    const repository = await open(`CREATE TABLE plants (id bigint, ${COLUMNS})`);
    await untilNotReady(repository, /is not unique/);
    expect(commands()).to.deep.equal(['ALTER TABLE plants ADD PRIMARY KEY (id);']);
    await server.run(`SET search_path = garden; ${commands()}`);
    await untilReady(repository);
    const other = await open(
      `CREATE TABLE plants (id bigint, ${COLUMNS}, number serial PRIMARY KEY)`,
    );
    await untilNotReady(other, /is not unique/);
    expect(commands()).to.deep.equal([]);
  });

  it('is found again after it was moved and the search path corrected', async () => {
    await created(CREATE_TABLE);
    await server.run('ALTER ROLE plant_store IN DATABASE postgres SET search_path = garden');
    const repository = watch(server.uri('plant_store'));
    const add = (id: bigint) => repository.add(newPlant({ ...monstera, id }), 60_000);
    await Promise.all([1n, 2n, 3n].map(add));
    await server.run(`CREATE SCHEMA moved; ALTER TABLE garden.plants SET SCHEMA moved;
      GRANT USAGE ON SCHEMA moved TO plant_store`);
    await untilNotReady(repository, /is in the schema moved/);
    await rejects(add(4n), { code: 'STORE_UNAVAILABLE', message: /is in the schema moved/ });
    await server.run('ALTER ROLE plant_store IN DATABASE postgres SET search_path = moved');
    await untilReady(repository);
    await Promise.all([5n, 6n, 7n].map(add));
  });

  it('may hide a row by a policy, and then the error for its id names the correction', async () => {
    const uri =
      await created(`CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}, owner name DEFAULT current_user);
      INSERT INTO plants (id, name, mark) VALUES (1, 'Fern', md5('')::uuid);
      ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON plants USING (owner = current_user)`);
    const repository = watch(uri);
    const message = /row-level security hides the row with this id.*must show it every row/;
    await Promise.all([
      rejects(repository.add(monstera, 60_000), { code: 'STORE_UNAVAILABLE', message }),
      repository.add(newPlant({ ...monstera, id: 2n }), 60_000),
    ]);
    await rejects(repository.add(monstera, 60_000), { code: 'STORE_UNAVAILABLE', message });
    await untilReady(repository);
    expect(events.map(({ type }) => type)).to.not.include('plant refused');
    await server.run('CREATE POLICY every_row ON plants FOR SELECT USING (true)');
    await rejects(repository.add(monstera, 60_000), { code: 'PLANT_ID_TAKEN' });
  });

  it('is refused in a database whose encoding cannot store every text', async () => {
    await server.run(`CREATE DATABASE garden ENCODING 'LATIN1' TEMPLATE template0`);
    const inGarden = (uri: string) => uri.replace(/postgres$/, 'garden');
    const administrator = new Client({ connectionString: inGarden(server.uri('postgres')) });
    await administrator.connect();
    await administrator.query(CREATE_TABLE);
    await administrator.end();
    const repository = postgresqlPlantRepository({ uri: inGarden(server.uri('plant_store')) });
    await untilNotReady(repository, /the database encoding is not UTF8/);
    await repository.close();
  });
});
