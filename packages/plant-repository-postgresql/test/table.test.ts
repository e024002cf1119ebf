import { rejects } from 'node:assert/strict';
import { newPlant } from '@plant-store/domain';
import {
  CREATE_TABLE,
  postgresqlPlantRepository,
  type StorageEvent,
} from '@plant-store/plant-repository-postgresql';
import { PostgresqlServer } from '@plant-store/postgresql';
import { expect } from 'chai';
import { Client } from 'pg';
import { describeOnPostgresql } from './support/describe-on-postgresql.js';
import { untilNotReady, untilReady } from './support/readiness.js';

const monstera = newPlant({ id: 1n, name: 'Monstera' });

const COLUMNS = 'name text NOT NULL, tag text, mark uuid NOT NULL';

const WORKS: Readonly<Record<string, string>> = {
  'a unique index instead of a primary key': `CREATE TABLE plants (id bigint, ${COLUMNS});
    CREATE UNIQUE INDEX ON plants (id)`,
  'a primary key of another name': `CREATE TABLE plants (id bigint CONSTRAINT x PRIMARY KEY, ${COLUMNS})`,
  'columns in another order, that may be null, without a limit':
    'CREATE TABLE plants (mark uuid, tag varchar, name varchar, id bigint PRIMARY KEY)',
  'further columns that may be empty': `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS},
    note text, added timestamptz NOT NULL DEFAULT now(), number int GENERATED ALWAYS AS IDENTITY,
    length int NOT NULL GENERATED ALWAYS AS (length(name)) STORED)`,
  'a sequence as a default': `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}, number serial);
    GRANT USAGE ON SEQUENCE plants_number_seq TO plant_store`,
  'a trigger that warns': `${CREATE_TABLE};
    CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''new''; RETURN NEW; END';
    CREATE TRIGGER warn BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION warn()`,
  'row-level security and policies': `${CREATE_TABLE}; ALTER TABLE plants ENABLE ROW LEVEL SECURITY;
    CREATE POLICY all_plants ON plants USING (true)`,
};

const REFUSED: Readonly<Record<string, readonly [statements: string, reason: RegExp]>> = {
  'an id that is not unique': [
    `CREATE TABLE plants (id bigint, ${COLUMNS})`,
    /the id of the table plants is not unique\. Make it the primary key/,
  ],
  'an id that is unique in a part of the rows': [
    `CREATE TABLE plants (id bigint, ${COLUMNS}); CREATE UNIQUE INDEX ON plants (id) WHERE id > 0`,
    /the id of the table plants is not unique/,
  ],
  'a deferrable primary key': [
    `CREATE TABLE plants (id bigint PRIMARY KEY DEFERRABLE, ${COLUMNS})`,
    /the primary key of the table plants is deferrable\. Replace it/,
  ],
  'an id of 32 bits': [
    `CREATE TABLE plants (id int PRIMARY KEY, ${COLUMNS})`,
    /the column id of the table plants is integer\. Change it to bigint/,
  ],
  'no tag': [
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, mark uuid NOT NULL)',
    /the column tag of the table plants is missing\. Add it as text/,
  ],
  'a limit of the name': [
    'CREATE TABLE plants (id bigint PRIMARY KEY, name varchar(200), tag text, mark uuid)',
    /the column name of the table plants is character varying\(200\)\. Change it to text/,
  ],
  'a tag that must not be null': [
    'CREATE TABLE plants (id bigint PRIMARY KEY, name text, tag text NOT NULL, mark uuid)',
    /the column tag of the table plants is NOT NULL/,
  ],
  'a further column that must not be null': [
    `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}, owner text NOT NULL)`,
    /the column owner of the table plants is NOT NULL\. Let it be null/,
  ],
  'row-level security without a policy': [
    `${CREATE_TABLE}; ALTER TABLE plants ENABLE ROW LEVEL SECURITY`,
    /row-level security of the table plants has no policy for INSERT\. Create one/,
  ],
  'row-level security with a policy for inserts only': [
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
    /row_security is off, so the policies of the table plants refuse every statement/,
  ],
  partitions: [
    `CREATE TABLE plants (id bigint PRIMARY KEY, ${COLUMNS}) PARTITION BY RANGE (id);
     CREATE TABLE every_plant PARTITION OF plants DEFAULT`,
    /plants is not an ordinary table/,
  ],
};

describeOnPostgresql('The table of plants of an administrator', () => {
  let server: PostgresqlServer;
  let events: StorageEvent[];

  before(async () => {
    server = await PostgresqlServer.start();
  });

  after(() => server.stop());

  async function open(statements: string) {
    await server.run(`ALTER ROLE plant_store RESET ALL; DROP SCHEMA IF EXISTS garden CASCADE; CREATE SCHEMA garden;
      SET search_path = garden; ${statements};
      GRANT USAGE ON SCHEMA garden TO plant_store; GRANT SELECT, INSERT ON plants TO plant_store`);
    const uri = `${server.uri('plant_store')}?options=-c%20search_path%3Dgarden`;
    events = [];
    const observer = (event: StorageEvent) => events.push(event);
    return postgresqlPlantRepository({ uri, observer });
  }

  for (const [what, statements] of Object.entries(WORKS)) {
    it(`may have ${what}`, async () => {
      const repository = await open(statements);
      await repository.add(monstera, 60_000);
      const another = repository.add(newPlant({ ...monstera, name: 'Fern' }), 60_000);
      await rejects(another, { code: 'PLANT_ID_TAKEN' });
      expect(await repository.read({ limit: 10 }, 60_000)).to.deep.equal([monstera]);
      await repository.close();
    });
  }

  for (const [what, [statements, message]] of Object.entries(REFUSED)) {
    it(`is refused at once with ${what}`, async () => {
      const repository = await open(statements);
      await untilNotReady(repository, message);
      await rejects(repository.add(monstera, 60_000), { code: 'STORAGE_UNAVAILABLE', message });
      await repository.close();
    });
  }

  const FIXES = {
    'is unlogged': 'ALTER TABLE plants SET UNLOGGED',
    'column tag of the table plants is missing': 'ALTER TABLE plants DROP COLUMN tag',
  };

  for (const [what, fault] of Object.entries(FIXES)) {
    it(`is used again after the statements of the log, when it ${what}`, async () => {
      const repository = await open(`${CREATE_TABLE};
        INSERT INTO plants (id, name, tag, mark) VALUES (1, 'Monstera', NULL, md5('')::uuid); ${fault}`);
      await untilNotReady(repository, new RegExp(what));
      const commands = events.flatMap((it) => (it.type === 'storage warning' ? it.command : []));
      expect(commands).to.have.length(1);
      await server.run(`${commands}`);
      await untilReady(repository);
      expect(await repository.read({ limit: 10 }, 60_000)).to.deep.equal([monstera]);
      await repository.close();
    });
  }

  it('is refused in a database that cannot keep every text', async () => {
    await server.run(`CREATE DATABASE garden ENCODING 'LATIN1' TEMPLATE template0`);
    const inGarden = (uri: string) => uri.replace(/postgres$/, 'garden');
    const administrator = new Client({ connectionString: inGarden(server.uri('postgres')) });
    await administrator.connect();
    await administrator.query(CREATE_TABLE);
    await administrator.end();
    const repository = postgresqlPlantRepository({ uri: inGarden(server.uri('plant_store')) });
    await untilNotReady(repository, /the encoding of the database is not UTF8/);
    await repository.close();
  });
});
