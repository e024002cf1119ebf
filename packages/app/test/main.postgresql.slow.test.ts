import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import { expect } from 'chai';
import { result, stopAll } from './support/in-process.js';
import { CLIENT, numbered, PlantFiles } from './support/plant-files.js';

/** In the order of their ids. */
const PLANTS = [
  '{"id":-9223372036854775808,"name":"the smallest"}\n',
  '{"id":-10,"name":"","tag":""}\n',
  '{"id":-9,"name":"a\\u0000b","tag":"\u2028 🌵"}\n',
  '{"id":9007199254740992,"name":"a double","tag":"\\"\\\\\\n"}\n',
  ...numbered(200),
  '{"id":9223372036854775807,"name":"the largest 🌵","tag":"\u2028\\u0000"}\n',
];

describe('The service on PostgreSQL', function () {
  this.timeout(120_000);
  const files = new PlantFiles();
  let server: PostgresqlServer | undefined;

  before(needsPostgresql);

  before(async () => {
    server = await PostgresqlServer.start();
    await server.createTable('plant_store');
  });

  afterEach(stopAll);

  after(async () => {
    files.remove();
    await server?.stop();
  });

  it('is checked, and exports each plant exactly as it was imported', async () => {
    const env = { ...CLIENT, POSTGRESQL_URI: server?.uri('plant_store') };
    const { code, out } = await result(['check'], env);
    expect(code).to.equal(0);
    expect(out).to.match(/^storage \(postgresql\): ready$/m);
    const source = await files.write([...PLANTS].reverse());
    expect(await result(['import', source], env)).to.include({ code: 0 });
    expect(await result(['export'], env)).to.include({ code: 0, out: PLANTS.join('') });
  });
});
