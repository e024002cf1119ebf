import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { endAll } from '@plant-store/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { stopAll } from '../support/in-process.js';
import { KeptPlants } from '../support/kept-plants.js';
import { numbered, PlantFiles, startExport, startWithFullDisk } from '../support/plant-files.js';

/** More plants than two pages, of which an export reads one ahead. */
const MANY = 20_001;

/** The arguments of the command that an export has printed. */
function resumeOf(printed: string): string[] {
  const [, args = ''] = /^To resume: plant-store export (.*)$/m.exec(printed) ?? [];
  return args.split(' ');
}

describe('plant-store export, from a replica set,', () => {
  const files = new PlantFiles();
  let env: { MONGODB_URI: string };
  let full: string;

  const storeOf = async () => {
    const { uri } = await sharedReplicaSet();
    return { MONGODB_URI: uri.replace('/?', `/export-${randomUUID()}?`) };
  };

  before(needsMongod);
  after(() => files.remove());
  afterEach(stopAll);
  afterEach(endAll);

  before(async () => {
    env = await storeOf();
    full = [...numbered(MANY)].join('');
    const store = new KeptPlants(env.MONGODB_URI);
    await store.fill(MANY).finally(() => store.close());
  });

  it('ends with 1 and no file without its collection, which it does not create, and with 0 without plants', async () => {
    const { MONGODB_URI } = await storeOf();
    const file = files.newPath();
    for (const args of [[], [file]]) {
      const it = startExport(args, {
        MONGODB_URI,
        MONGODB_COLLECTION: 'misspelt',
        LOG_LEVEL: 'warn',
      });
      expect(await it.ended).to.equal(1);
      expect(it.out).to.equal('');
      expect(it.err).to.match(
        /^plant-store: export: MONGODB_URI: .*there is no collection "misspelt" in the database "export-.*\n$/,
      );
    }
    for (const name of [file, `${file}.partial`]) expect(existsSync(name)).to.equal(false);
    const client = new MongoClient(MONGODB_URI);
    expect(await client.db().listCollections().toArray()).to.deep.equal([]);
    await client.db().createCollection('plants');
    await client.close();
    const empty = startExport([file], { MONGODB_URI });
    expect(await empty.ended).to.equal(0);
    expect(empty.err).to.equal('exported: 0\n');
    expect(readFileSync(file, 'utf8')).to.equal('');
  });

  it('has no complete file when the disk is full, and continues it when it is resumed', async () => {
    const file = files.newPath();
    const it = startWithFullDisk(1024, ['export', file], { ...env, LOG_LEVEL: 'error' });
    expect(await it.ended).to.equal(1);
    expect(it.stderr()).to.include('EFBIG').and.to.include(`${file}.partial is not complete`);
    expect(existsSync(file)).to.equal(false);
    const part = readFileSync(`${file}.partial`, 'utf8');
    expect(full.startsWith(part) && part.endsWith('\n')).to.equal(true);
    expect(part).to.have.lengthOf.above(0);

    const another = startExport([file], env);
    expect(await another.ended).to.equal(2);
    const [, last] = /--after (\d+), or remove it/.exec(another.err) ?? [];
    const resume = resumeOf(it.stderr());
    expect(resume).to.deep.equal([file, '--after', last]);
    writeFileSync(`${file}.partial`, '{"id":90071', { flag: 'a' });
    expect(await startExport(resume, env).ended).to.equal(0);
    expect(readFileSync(file, 'utf8')).to.equal(full);
  });

  it('stops on SIGTERM after the lines that its reader takes, and resumes after the last one', async () => {
    const it = startExport([], env);
    await it.printed(/^\{/);
    it.stdout.pause();
    it.emit('SIGTERM');
    await it.printed(/SIGTERM: waiting/);
    it.stdout.resume();
    expect(await it.ended).to.equal(1);
    expect(it.out).to.have.lengthOf.below(full.length);
    const rest = startExport(resumeOf(it.err), env);
    expect(await rest.ended).to.equal(0);
    expect(it.out + rest.out).to.equal(full);
  });
});
