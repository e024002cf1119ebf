import { rejects } from 'node:assert/strict';
import { CREATE_TABLE, postgresqlUriProblem } from '@plant-store/plant-repository-postgresql';
import { expect } from 'chai';
import { Client, DatabaseError } from 'pg';
import { PostgresqlPlantTable } from '../src/postgresql-plant-table.js';
import { NotDurableError } from '../src/server-error.js';

const URI = 'postgresql://gardener:s3cret@db.example:5433/garden';

describe('A connection string of PostgreSQL', () => {
  for (const uri of [
    'postgresql://gardener:1234/garden',
    'postgresql://gardener:s3cret@db.example',
    'postgresql://gardener:s3cret@a,b/garden',
    'mysql://gardener:s3cret@db.example/garden',
  ]) {
    it(`is refused without its password: ${uri}`, () => {
      expect(postgresqlUriProblem(uri)).to.equal(
        'it must have a user, one host and a database, and other special characters percent-encoded',
      );
    });
  }

  it('is refused with the reason when a file cannot be read', () => {
    expect(postgresqlUriProblem(`${URI}?sslrootcert=/none`)).to.equal(
      "ENOENT: no such file or directory, open '/none'",
    );
    expect(postgresqlUriProblem(URI)).to.equal(undefined);
  });
});

describe('The table of plants in PostgreSQL', () => {
  const table = new PostgresqlPlantTable(URI, 1);
  const reported = (code: string) =>
    table.serverError(Object.assign(new DatabaseError('a message', 1, 'error'), { code }));
  const grant = 'GRANT SELECT, INSERT ON plants TO "gardener";';

  after(() => table.close());

  it('is named without credentials', () => {
    expect(table.place).to.equal('the database at db.example:5433');
  });

  it('has advice when it does not exist, or when permissions are missing', () => {
    expect(reported('42P01')?.advice).to.deep.equal({
      message: 'the table plants does not exist. Create it, and grant its permissions',
      command: `${CREATE_TABLE};\n${grant}`,
    });
    const message = 'permissions on the table plants are missing. Grant them';
    expect(reported('42501')?.advice).to.deep.equal({ message, command: grant });
    expect(reported('28P01')?.advice).to.equal(undefined);
  });

  it('is not used when the server does not keep what it acknowledges', () => {
    const reason = 'fsync is off';
    expect(table.serverError(new NotDurableError(reason))).to.deep.equal({
      ...{ code: 'NotDurableError', outcome: 'access denied', reason, advice: undefined },
    });
    expect(table.serverError(new Error('read ECONNRESET'))).to.equal(undefined);
  });

  describe('with a server that replies', () => {
    const row = { id: 7n, name: 'Monstera', tag: undefined, mark: 'its mark' };
    const durable = { flushed: true, logged: true, full_page_writes: 'on' };

    /** A connection whose statements have these results; each may come with a notice. */
    function connection(results: readonly object[], notice?: string) {
      const replies = [...results];
      const statements: unknown[][] = [];
      const client = Object.assign(new Client(), {
        release: () => undefined,
        async query(...statement: unknown[]) {
          statements.push(statement);
          if (notice !== undefined) client.emit('notice', { code: notice });
          return replies.shift();
        },
      });
      return { client, statements };
    }

    it('has a row when the server reports one, without a warning', async () => {
      const { client, statements } = connection([{ rowCount: 1 }], '00000');
      expect(await table.insert(client, row)).to.equal(true);
      expect(statements[0]?.[1]).to.deep.equal([7n, Buffer.from('Monstera'), null, 'its mark']);
      expect(client.listenerCount('notice')).to.equal(0);
      const warned = connection([{ rowCount: 1 }], '01000');
      const message = 'the server has warned about the commit';
      await rejects(table.insert(warned.client, row), { message });
    });

    it('has no row when a trigger drops it, or the server is not durable', async () => {
      for (const [settings, problem] of [
        [durable, undefined],
        [{ ...durable, flushed: false }, 'fsync is off, so a crash loses plants. Set it to on'],
        [{ ...durable, logged: false }, 'the table plants is unlogged. Set it to logged'],
      ] as const) {
        const { client } = connection([{ rowCount: 0 }, { rows: [settings] }]);
        const inserted = await table.insert(client, row).catch(({ message }) => message);
        expect(inserted).to.equal(problem ?? false);
      }
    });

    it('has advice about pages that may be torn', async () => {
      const check = (settings: object) =>
        table.check(connection([{}, { rows: [{ ...durable, ...settings }] }]).client);
      expect(await check({})).to.equal(undefined);
      const advice = await check({ full_page_writes: 'off' });
      expect(advice?.message).to.match(/^full_page_writes is off: .*\. Set it to on$/);
      expect(advice?.command).to.equal(
        'ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();',
      );
    });

    it('has marks and plants, and reports a row that is not one', async () => {
      const found = connection([{ rows: [{ mark: 'its mark' }] }, { rows: [] }]).client;
      expect([await table.markOf(found, 7n), await table.markOf(found, 8n)]).to.deep.equal([
        ...['its mark', undefined],
      ]);
      const name = Buffer.from('Monstera');
      const rows = [
        { id: '7', name, tag: null },
        { id: '8', name, tag: name },
      ];
      const { client, statements } = connection([{ rows }, {}]);
      expect(await table.page(client, undefined, 10)).to.deep.equal([
        { id: 7n, name: 'Monstera', tag: undefined },
        { id: 8n, name: 'Monstera', tag: 'Monstera' },
      ]);
      expect(statements[0]?.[1]).to.deep.equal([null, 10]);
      expect(statements, 'with one that makes them durable').to.have.length(2);
      const broken = connection([{ rows: [{ id: '9', name, tag: Buffer.from([0xff]) }] }, {}]);
      await rejects(table.page(broken.client, undefined, 10), {
        code: 'UNREADABLE_PLANT',
        message:
          'the row with the id 9 is not a plant, since its text is not UTF-8: another program wrote it. Remove it or correct it',
      });
    });
  });
});
