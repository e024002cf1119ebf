import { rejects } from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { type Document, Long, MongoClient, MongoServerError, Timestamp } from 'mongodb';
import { PlantPages } from '../../src/collection/plant-pages.js';

const serverError = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });
const page = (...firstBatch: object[]) => ({ cursor: { firstBatch } });
const monstera = { _id: Long.fromNumber(7), name: 'Monstera' };

/** Pages of a database that replies in this order, and the commands that it got. */
function pagesWith(...replies: (Document | Error)[]) {
  const commands: Document[] = [];
  const closing = new AbortController();
  const db = Object.assign(new MongoClient('mongodb://127.0.0.1:1/').db('garden'), {
    async command(command: Document) {
      commands.push(command);
      const reply = replies.shift();
      if (reply instanceof Error) throw reply;
      return reply ?? closing.abort();
    },
  });
  const pages = new PlantPages(db, { name: 'plants', mustExist: false }, closing.signal);
  const read = async () => {
    const reading = pages.read({ limit: 10 }, 10_000);
    return reading.finally(() =>
      expect(getEventListeners(closing.signal, 'abort')).to.deep.equal([]),
    );
  };
  return { commands, read };
}

describe('A page of plants', () => {
  it('has what was acknowledged before, also after a failure', async () => {
    const operationTime = Timestamp.fromNumber(5);
    const { commands, read } = pagesWith(new Error('lost'), { operationTime }, page(monstera));
    expect(await read()).to.deep.equal([{ id: 7n, name: 'Monstera' }]);
    const concern = { level: 'majority', afterClusterTime: operationTime };
    expect(commands.at(-1)?.readConcern).to.deep.equal(concern);
    expect(commands.at(-2)?.readConcern).to.deep.equal({ level: 'linearizable' });
  });

  it('is read from a standalone server, also with an id of another numeric type', async () => {
    const { commands, read } = pagesWith(serverError(123), page({ ...monstera, _id: 8, tag: '' }));
    expect(await read()).to.deep.equal([{ id: 8n, name: 'Monstera', tag: '' }]);
    expect(commands.at(-1)?.readConcern).to.deep.equal({ level: 'majority' });
  });

  it('is not read again when access is refused', async () => {
    for (const code of [13, 18]) {
      const { commands, read } = pagesWith(serverError(code));
      await rejects(read(), { code });
      expect(commands).to.have.length(1);
    }
  });

  it('is rejected with the latest failure when the repository is closed', async () => {
    await rejects(pagesWith(serverError(50)).read(), { code: 50 });
    await rejects(pagesWith().read(), { message: 'the database did not respond in time' });
  });

  for (const other of [{ _id: 'seven' }, { _id: 7.5 }, { name: 7 }, { tag: null }]) {
    it(`is not read with a document that is not a plant: ${JSON.stringify(other)}`, async () => {
      const document = { ...monstera, ...other };
      const { commands, read } = pagesWith({}, page(document));
      await rejects(read(), {
        code: 'UNREADABLE_PLANT',
        message: `the document with the _id ${document._id} is not a plant: another program wrote it. Remove it or correct it`,
      });
      expect(commands).to.have.length(2);
    });
  }
});
