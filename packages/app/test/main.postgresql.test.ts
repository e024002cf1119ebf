import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { findMongod, sharedReplicaSet } from '@plant-store/mongod';
import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import { ACCESS_TOKEN_SHA256, createPlant } from '@plant-store/service-process';
import { expect } from 'chai';
import { Command, serveHere, stopAll } from './support/in-process.js';
import { numbered, PlantFiles, startExport, startImport } from './support/plant-files.js';

/** In the order of their ids. */
const PLANTS = [
  '{"id":-9223372036854775808,"name":"the smallest"}\n',
  '{"id":-10,"name":"","tag":""}\n',
  '{"id":-9,"name":"a\\u0000b","tag":"\u2028 🌵"}\n',
  '{"id":9007199254740992,"name":"a double","tag":"\\"\\\\\\n"}\n',
  ...numbered(200),
  '{"id":9223372036854775807,"name":"the largest 🌵","tag":"\u2028\\u0000"}\n',
];
const CLIENTS = 50;

describe('The service on PostgreSQL', () => {
  before(needsPostgresql);
  afterEach(stopAll);
  describe('with its table', describeService);
});

/** Its hooks do not run where there is no server. */
function describeService(this: Mocha.Suite): void {
  this.timeout(120_000);
  const files = new PlantFiles();
  let server: PostgresqlServer;
  let env: Record<string, string>;

  before(async () => {
    server = await PostgresqlServer.start();
    await server.createTable('plant_store');
    env = { POSTGRESQL_URI: server.uri('plant_store'), ACCESS_TOKEN_SHA256 };
  });

  after(async () => {
    files.remove();
    await server.stop();
  });

  it('keeps each plant exactly that is moved to it from MongoDB, and back', async function () {
    if ((await findMongod()) === undefined) this.skip();
    const { uri: MONGODB_URI } = await sharedReplicaSet();
    const store = () => ({ MONGODB_URI, MONGODB_COLLECTION: randomUUID() });
    const importAll = async (file: string, to: Record<string, string>) => {
      const it = startImport([file], to);
      expect(await it.ended, it.err).to.equal(0);
    };
    const exportAll = async (from: Record<string, string>) => {
      const file = files.newPath();
      const it = startExport([file], from);
      expect(await it.ended, it.err).to.equal(0);
      return file;
    };
    const [first, second] = [store(), store()];
    await importAll(await files.write([...PLANTS].reverse()), first);
    await importAll(await exportAll(first), env);
    await importAll(await exportAll(env), second);
    expect(readFileSync(await exportAll(second), 'utf8')).to.equal(PLANTS.join(''));
  });

  it('loses no acknowledged plant, and reports no stored one as unavailable, when the server is killed', async () => {
    const service = await serveHere({ ...env, REQUEST_DEADLINE_MS: '5000' });
    const outcomes = new Map<number, string>();
    const created = new EventEmitter();
    let stopped = false;
    const client = async (first: number) => {
      for (let id = first; !stopped; id += CLIENTS) {
        const response = await createPlant(service.address, id);
        const { error } = (await response.json()) as { error?: number };
        outcomes.set(id, response.ok ? 'stored' : `error ${error}`);
        if (response.ok) created.emit('plant');
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, index) => client(index));
    for (const more of [100, 50]) {
      for (let plant = 0; plant < more; plant += 1) await once(created, 'plant');
      await server.kill();
      await server.restart();
    }
    stopped = true;
    await Promise.all(clients);
    const rows = await server.rows('SELECT id::text FROM plant_store.plants');
    const stored = new Set(rows.map(({ id }) => Number(id)));
    const wrong = [...outcomes].filter(([id, outcome]) => {
      if (outcome === 'error 5031') return false;
      return stored.has(id) !== (outcome === 'stored');
    });
    expect(wrong).to.deep.equal([]);
  });

  it('is checked to keep plants durably', async () => {
    const durable = new Command(['check'], env);
    expect(await durable.ended).to.equal(0);
    expect(durable.out).to.match(/^storage \(postgresql\): ready$/m);
    await server.withSetting('fsync', 'off', async () => {
      const careless = new Command(['check'], env);
      expect(await careless.ended).to.equal(1);
      expect(careless.out).to.match(/\(postgresql\): not ready, POSTGRESQL_URI: .*: fsync is off/);
    });
  });
}
