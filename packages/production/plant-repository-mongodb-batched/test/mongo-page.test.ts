import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { Decimal128, type Document, Long, MongoClient, MongoServerError, Timestamp } from 'mongodb';
import { readPage } from '../src/mongo-page.js';

const serverError = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });
const page = (...firstBatch: object[]) => ({ cursor: { firstBatch } });
const monstera = { _id: Long.fromNumber(7), name: 'Monstera' };

/** A page of a database that replies in this order, and the commands that it got. */
function pageWith(...replies: (Document | Error)[]) {
  const commands: Document[] = [];
  const { signal } = new AbortController();
  const db = Object.assign(new MongoClient('mongodb://127.0.0.1:1/').db('garden'), {
    async command(command: Document, options: { signal: AbortSignal }) {
      expect(options.signal).to.equal(signal);
      commands.push(command);
      const reply = replies.shift() ?? {};
      if (reply instanceof Error) throw reply;
      return reply;
    },
  });
  return { commands, read: () => readPage(db, 'plants', { limit: 10 }, signal) };
}

describe('A page of plants', () => {
  it('contains every plant that was acknowledged before', async () => {
    const operationTime = Timestamp.fromNumber(5);
    const { commands, read } = pageWith({ operationTime }, page(monstera));
    expect(await read()).to.deep.equal([{ id: 7n, name: 'Monstera', tag: undefined }]);
    const concern = { level: 'majority', afterClusterTime: operationTime };
    expect(commands.at(-1)?.readConcern).to.deep.equal(concern);
    expect(commands.at(-2)?.readConcern).to.deep.equal({ level: 'linearizable' });
  });

  it('is read from a standalone server', async () => {
    const { commands, read } = pageWith(serverError(123), page({ ...monstera, tag: '' }));
    expect(await read()).to.deep.equal([{ id: 7n, name: 'Monstera', tag: '' }]);
    expect(commands.at(-1)?.readConcern).to.deep.equal({ level: 'majority' });
  });

  it('is not read when the first command fails', async () => {
    const { commands, read } = pageWith(serverError(13));
    await rejects(read(), { code: 13 });
    expect(commands).to.have.length(1);
  });

  it('contains ids that another program stored as an int, a double or a decimal', async () => {
    const decimals = ['1.2E+3', '-4E+2', '5.000', '12000E-1', '0E-3', '9007199254740993'];
    const ids = [7, -1, 2 ** 62, ...decimals.map((it) => Decimal128.fromString(it))];
    const { read } = pageWith({}, page(...ids.map((_id) => ({ ...monstera, _id }))));
    const whole = [7n, -1n, 2n ** 62n, 1200n, -400n, 5n, 1200n, 0n, 9007199254740993n];
    expect((await read()).map(({ id }) => id)).to.deep.equal(whole);
  });

  const decimal = (text: string) => ({ _id: Decimal128.fromString(text) });
  const others: readonly [id: string, other: object][] = [
    ['{"$numberDecimal":"1.5"}', decimal('1.5')],
    ['{"$numberDecimal":"NaN"}', decimal('NaN')],
    ['7.5', { _id: 7.5 }],
    ['"a"', { _id: 'a' }],
    ['7', { name: 7 }],
    ['7', { tag: null }],
  ];
  for (const [id, other] of others) {
    it(`is rejected if it contains a document that is not a plant: ${JSON.stringify(other)}`, async () => {
      await rejects(pageWith({}, page({ ...monstera, ...other })).read(), {
        code: 'UNREADABLE_PLANT',
        message: `the document with the _id ${id} is not a plant: another program wrote it. Remove it or correct it`,
      });
    });
  }
});
