import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { command, endAll, run, watch } from '@plant-store/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { stopAll } from '../support/in-process.js';
import { CLIENT, newFiles, numbered, startExport, startImport } from '../support/plant-files.js';

/** More plants than two pages, of which an export reads one ahead. */
const MANY = 20_001;

/** The arguments that resume an export, from what it has printed. */
function resumeOf(err: string): string[] {
  return /To resume: (--after \d+)\n$/.exec(err)?.[1]?.split(' ') ?? [];
}

describe('plant-store export, from a replica set,', () => {
  const { newPath, write } = newFiles();
  let env: { MONGODB_URI: string };
  let full: string;

  const storeOf = async () => {
    const { uri } = await sharedReplicaSet();
    return { MONGODB_URI: uri.replace('/?', `/export-${randomUUID()}?`) };
  };

  before(needsMongod);
  afterEach(stopAll);
  afterEach(endAll);

  before(async () => {
    env = await storeOf();
    full = numbered(MANY).join('');
    expect(await startImport([write([full])], env).ended).to.equal(0);
  });

  it('ends with 1 without its collection, which it does not create, and with 0 and the warnings of the storage without plants', async () => {
    const { MONGODB_URI } = await storeOf();
    const misspelt = { MONGODB_URI, MONGODB_COLLECTION: 'misspelt', LOG_LEVEL: 'warn' };
    const it = startExport([], misspelt);
    expect(await it.ended).to.equal(1);
    expect(it.out).to.equal('');
    expect(it.err).to.match(
      /\nexported: 0\nplant-store: export: MONGODB_URI: .*there is no collection "misspelt" in the database "export-.*\n$/,
    );
    const client = new MongoClient(MONGODB_URI);
    expect(await client.db().listCollections().toArray()).to.deep.equal([]);
    await client.db().createCollection('plants');
    await client.close();
    const empty = startExport([], { MONGODB_URI, LOG_LEVEL: 'warn' });
    expect(await empty.ended).to.equal(0);
    expect(empty.out).to.equal('');
    expect(empty.err).to.match(
      /^.*WARN: the collection does not have the validator .*\n.*collMod.*\nexported: 0\n$/,
    );
  });

  it('reports a full disk, and how to resume before what was cut off', async () => {
    const file = newPath();
    // Further writes to the file are short, or fail.
    const limited = `trap '' XFSZ; ulimit -f 1024; exec '${process.execPath}' '${command}' export > '${file}'`;
    const it = watch(
      spawn('bash', ['-c', limited], {
        env: { PATH: process.env.PATH, ...CLIENT, ...env, LOG_LEVEL: 'error' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    expect(await it.ended).to.equal(1);
    expect(it.stderr()).to.match(
      /^exported: 10000\nplant-store: export: EFBIG: .*, write\. To resume: /m,
    );
    const part = readFileSync(file, 'utf8');
    expect(part).to.have.lengthOf(1024 * 1024);
    const rest = startExport(resumeOf(it.stderr()), env);
    expect(await rest.ended).to.equal(0);
    const written = part.split('\n').slice(0, 10_000);
    expect(`${written.join('\n')}\n${rest.out}`).to.equal(full);
  });

  it('reports that nothing reads its output', async () => {
    const it = run(['export'], { ...CLIENT, ...env, LOG_LEVEL: 'error' });
    it.child.stdout?.destroy();
    expect(await it.ended).to.equal(1);
    expect(it.stderr()).to.match(/^exported: 0\nplant-store: export: write EPIPE\n$/m);
  });

  it('stops on SIGTERM after the lines that its reader takes, and resumes after the last one', async () => {
    const it = startExport([], env);
    await it.printed(/^\{/);
    it.stdout.pause();
    it.emit('SIGTERM', 'SIGTERM');
    await it.printed(/waiting for what is in progress/);
    it.stdout.resume();
    expect(await it.ended).to.equal(1);
    expect(it.out).to.have.lengthOf.below(full.length);
    const rest = startExport(resumeOf(it.err), env);
    expect(await rest.ended).to.equal(0);
    expect(it.out + rest.out).to.equal(full);
  });
});
