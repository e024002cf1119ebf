import { MongodServer } from '@plant-store/mongod';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { clientOf, closeClient, DATABASE } from './support/open-store.js';

/** What the store relies on when it reads a plant back after a duplicate key error. */
describeOnMongod('A set whose writeConcernMajorityJournalDefault is false', () => {
  let server: MongodServer;

  before(async function () {
    server = await MongodServer.start({ args: ['--replSet', 'plants'] });
    const members = [{ _id: 0, host: server.host }];
    const config = { _id: 'plants', members, writeConcernMajorityJournalDefault: false };
    await server.command({ replSetInitiate: config });
    const { version } = await server.command({ buildInfo: 1 });
    // There, the fail point also stops writes with `j: true`.
    if (version.startsWith('4.')) this.skip();
    await insert(0, 'majority', true);
    await pauseJournalFlusher();
  });

  after(async () => {
    await server.command({ configureFailPoint: 'pauseJournalFlusherThread', mode: 'off' });
    await closeClient(uri());
    await server.stop();
  });

  /** Resolves when the thread stands still: it may be flushing while the fail point is set. */
  async function pauseJournalFlusher(): Promise<void> {
    const pause = 'pauseJournalFlusherThread';
    const { count } = await server.command({ configureFailPoint: pause, mode: 'alwaysOn' });
    const maxTimeMS = 20_000;
    await server.command({ waitForFailPoint: pause, timesEntered: count + 1, maxTimeMS });
  }

  const uri = () => `mongodb://${server.host}/?replicaSet=plants`;
  const run = (command: Document) => clientOf(uri()).db(DATABASE).command(command);

  function insert(_id: number, w: unknown, j: boolean): Promise<Document> {
    const documents = [{ _id }];
    return run({ insert: 'plants', documents, ordered: false, writeConcern: { w, j } });
  }

  async function isJournalled(): Promise<boolean> {
    const { optimes } = await server.command({ replSetGetStatus: 1 });
    return optimes.durableOpTime.ts.equals(optimes.appliedOpTime.ts);
  }

  it('reads with majority what is in no journal, and has journalled it after a duplicate key error', async () => {
    await insert(1, 1, false);
    const readConcern = { level: 'majority' };
    const { cursor } = await run({ find: 'plants', filter: { _id: 1 }, readConcern });
    expect(cursor.firstBatch).to.deep.equal([{ _id: 1 }]);
    expect(await isJournalled()).to.equal(false);
    const { writeErrors } = await insert(1, 'majority', true);
    expect(writeErrors[0]).to.have.property('code', 11000);
    expect(await isJournalled()).to.equal(true);
  });
});
