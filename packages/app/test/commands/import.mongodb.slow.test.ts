import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { endAll, run } from '@plant-store/service-process';
import { expect } from 'chai';
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

const MANY = 15_000;

describe('plant-store import', () => {
  const { write } = newFiles();
  afterEach(stopAll);
  afterEach(endAll);

  it('reads standard input, is not ended by a SIGHUP, and is ended by the second signal', async () => {
    const env = { ...CLIENT, MONGODB_URI: 'mongodb://127.0.0.1:1', REQUEST_DEADLINE_MS: '1' };
    const it = run(['import', '-'], env, Readable.from(numbered(2)));
    const reported = async (pattern: RegExp) => {
      while (!pattern.test(it.stderr())) await once(it.child.stderr ?? it.child, 'data');
    };
    await reported(/not reachable/);
    it.child.kill('SIGHUP');
    it.child.kill('SIGINT');
    await reported(/--from-line 1\nwaiting for what is in progress/);
    it.child.kill('SIGINT');
    expect(await it.ended).to.equal(1);
    expect(it.stdout()).to.equal('');
  });

  it('loses and repeats no plant when it is killed, stopped by SIGTERM, and resumed', async function () {
    await needsMongod.call(this);
    const { uri } = await sharedReplicaSet();
    const env = { MONGODB_URI: uri.replace('/?', `/import-${randomUUID()}?`) };
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
