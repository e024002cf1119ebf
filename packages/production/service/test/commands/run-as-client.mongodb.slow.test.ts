import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { needsMongod, sharedReplicaSet } from '@plant-store/test-servers/mongod';
import { ownProcesses } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { stopAll } from '../support/in-process.js';
import {
  CLIENT,
  countsOf,
  ID_BEFORE,
  newFiles,
  numbered,
  rejectsIn,
  startExport,
  startImport,
  storesAfter,
} from '../support/plant-files.js';

const { endAll, run } = ownProcesses();

/** More plants than two pages, of which an export reads one ahead. */
const MANY = 20_001;

/** Resolves with the settings of a database that has no collection yet. */
async function newStore() {
  const { uri } = await sharedReplicaSet();
  return { MONGODB_URI: uri.replace('/?', `/test-${randomUUID()}?`) };
}

describe('plant-store import', () => {
  const { write } = newFiles();
  afterEach(stopAll);
  afterEach(endAll);

  it('stops on a SIGHUP, and exits immediately on a second signal', async () => {
    const env = { ...CLIENT, MONGODB_URI: 'mongodb://127.0.0.1:1', REQUEST_DEADLINE_MS: '1' };
    const running = run(['import', '-'], env, Readable.from(numbered(2)));
    const reported = async (pattern: RegExp) => {
      while (!pattern.test(running.stderr()))
        await once(running.child.stderr ?? running.child, 'data');
    };
    await reported(/not reachable/);
    running.child.kill('SIGHUP');
    await reported(/--from-line 1\nfinishing the work in progress/);
    const repeating = setInterval(() => running.child.kill('SIGTERM'), 100);
    expect(await running.ended.finally(() => clearInterval(repeating))).to.equal(1);
    expect(running.stderr()).to.match(/ended by a second signal, SIGTERM\n$/);
    expect(running.stdout()).to.equal('');
  });

  it('stores every plant exactly once even if it is killed, stopped and resumed', async function () {
    await needsMongod.call(this);
    const env = await newStore();
    const file = write(numbered(MANY));
    const killed = run(['import', file], { ...CLIENT, ...env });
    await storesAfter(`${ID_BEFORE}`, killed, env);
    killed.child.kill('SIGKILL');
    expect(await killed.ended).to.equal('SIGKILL');

    const kept = startExport([], env);
    await kept.ended;
    const stopped = startImport([file], env);
    await storesAfter(kept.out.match(/\d{16}/g)?.at(-1) ?? '', stopped, env);
    expect(await stopped.stop()).to.equal(1);
    const nextLine = Number(/To resume: --from-line ([0-9]+)/.exec(stopped.err)?.[1]);
    expect(nextLine).to.be.below(MANY);
    const resumed = startImport([file, '--from-line', `${nextLine}`], env);
    await resumed.ended;

    // Inserts in progress may have been stored after the end of the first import.
    const counts = [stopped, resumed].map(({ err }) => countsOf(err));
    const [before = 0, after = 0] = counts.map(({ stored = 0, 4006: taken = 0, ...others }) => {
      expect(others).to.deep.equal({});
      return stored + taken;
    });
    expect([before, before + after]).to.deep.equal([nextLine - 1, MANY]);
    const taken = rejectsIn(stopped.out + resumed.out).filter(({ error }) => error === 4006);
    expect(taken).to.have.length(counts.reduce((sum, { 4006: it = 0 }) => sum + it, 0));
    expect(taken).not.to.have.length(0);
    const exported = startExport([], env);
    await exported.ended;
    expect(exported.out === numbered(MANY).join('')).to.equal(true);
  });
});

/** The arguments that resume an export, from what it has printed. */
function resumeOf(err: string): string[] {
  return /To resume: (--after \d+(?: --limit \d+)?)\n$/.exec(err)?.[1]?.split(' ') ?? [];
}

describe('plant-store export from a replica set', () => {
  const { write } = newFiles();
  let env: { MONGODB_URI: string };

  before(needsMongod);
  afterEach(stopAll);
  afterEach(endAll);

  before(async () => {
    env = await newStore();
    expect(await startImport([write(numbered(MANY))], env).ended).to.equal(0);
  });

  it('exits with 1 if the collection is missing, and with 0 if it is empty', async () => {
    const { MONGODB_URI } = await newStore();
    // Whether the check logs its warnings in time is left to chance.
    const quiet = { MONGODB_URI, LOG_LEVEL: 'error' };
    const running = startExport([], { ...quiet, MONGODB_COLLECTION: 'misspelt' });
    expect(await running.ended).to.equal(1);
    expect(running.out).to.equal('');
    expect(running.err).to.match(
      /^exported: 0\nplant-store: export: MONGODB_URI: .*the collection does not exist: test-.*\.misspelt\)\n$/,
    );
    await using client = new MongoClient(MONGODB_URI);
    expect(await client.db().listCollections().toArray()).to.deep.equal([]);
    await client.db().createCollection('plants');
    const empty = startExport([], quiet);
    expect(await empty.ended).to.equal(0);
    expect(empty.out).to.equal('');
    expect(empty.err).to.equal('exported: 0\n');
  });

  it('resumes with the options that it prints after a SIGTERM', async () => {
    const limited = numbered(MANY - 1).join('');
    const running = startExport(['--limit', `${MANY - 1}`], env);
    await running.printed(/^\{/);
    running.stdout.pause();
    running.emit('SIGTERM', 'SIGTERM');
    await running.printed(/finishing the work in progress/);
    running.stdout.resume();
    expect(await running.ended).to.equal(1);
    expect(running.out).to.have.lengthOf.below(limited.length);
    const resume = resumeOf(running.err);
    expect(resume).to.include('--limit');
    const rest = startExport(resume, env);
    expect(await rest.ended).to.equal(0);
    expect(running.out + rest.out === limited).to.equal(true);
  });
});
