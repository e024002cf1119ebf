import { setTimeout as wait } from 'node:timers/promises';
import { needsMongod, ReplicaSet } from '@plant-store/mongod';
import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import { expect } from 'chai';
import { stopAll } from '../support/in-process.js';
import { KeptPlants } from '../support/kept-plants.js';
import { countsOf, numbered, PlantFiles, startImport } from '../support/plant-files.js';

/** More lines than are imported at once. */
const LINES = 12_000;
/** Longer than any time limit of a request, and of the stores. */
const PAUSE_MS = 20_000;

describe('An import, while the database', function () {
  this.timeout(150_000);
  const files = new PlantFiles();
  let file: string;

  before(async () => {
    file = await files.write(numbered(LINES));
  });

  after(() => files.remove());
  afterEach(stopAll);

  async function expectStored(it: ReturnType<typeof startImport>): Promise<void> {
    expect(await it.ended, it.out + it.err).to.equal(0);
    expect(countsOf(it.out)).to.deep.equal({ stored: LINES });
  }

  describe('is MongoDB,', () => {
    let set: ReplicaSet;

    before(needsMongod);
    before(async () => {
      set = await ReplicaSet.start({ members: 1 });
    });
    after(() => set?.stop());

    it('stands still for 20 s, waits, and stores every line', async () => {
      const MONGODB_URI = set.uri.replace('/?', '/import?');
      const kept = new KeptPlants(MONGODB_URI);
      const it = startImport([file], { MONGODB_URI });
      await kept.reach(1, it).finally(() => kept.close());
      const [member] = set.members;
      member?.freeze();
      await wait(PAUSE_MS);
      expect(it.out, 'its summary').to.equal('');
      member?.thaw();
      await expectStored(it);
    });
  });

  describe('is PostgreSQL,', () => {
    let server: PostgresqlServer;
    let env: Record<string, string>;

    before(needsPostgresql);
    before(async () => {
      server = await PostgresqlServer.start();
    });
    after(() => server?.stop());

    beforeEach(async () => {
      await server.run('DROP SCHEMA IF EXISTS plant_store CASCADE');
      await server.createTable('plant_store');
      env = { POSTGRESQL_URI: server.uri('plant_store') };
    });

    const count = async () => {
      const [row] = await server.rows('SELECT count(*)::int AS count FROM plant_store.plants');
      return Number(row?.count);
    };

    it('stands still for 20 s, waits, and stores every line', async () => {
      const it = startImport([file], env);
      while ((await count()) === 0) await wait(5);
      await server.frozen(async () => {
        await wait(PAUSE_MS);
        expect(it.out, 'its summary').to.equal('');
      });
      await expectStored(it);
    });

    it('takes 40 ms for each commit, stores every line', async () => {
      await server.withSetting('commit_siblings', '0', () =>
        server.withSetting('commit_delay', '40000', () => expectStored(startImport([file], env))),
      );
    });
  });
});
