import type { InsertOutcome } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import { type Document, MongoNetworkError, MongoServerError } from 'mongodb';
import { insertResult, outcomeOfError } from '../../src/collection/insert-outcome.js';

const DUPLICATE = 11000;
const INVALID = 121;
/** What a `mongos` reports: unreachable, not found, timed out, shut down, no primary, stepped down, stale. */
const ROUTER = [6, 7, 89, 91, 133, 189, 13388];
const VIEW = 166;

const all = { n: 2 };
const first = (code: number): Document => ({ n: 1, writeErrors: [{ index: 0, code }] });
const second = (error: { code: number; keyPattern?: object }): Document => ({
  n: 1,
  writeErrors: [{ index: 1, ...error, errmsg: 'quotes Monstera' }],
});
/** The write concern of the insert is not met. */
const unmet = (reply: Document): Document => ({
  ...reply,
  writeConcernError: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'quotes Monstera' },
});

const invalid = {
  code: INVALID,
  reason: 'the validator of the collection refuses the plant',
};
const otherIndex = (keys: string) => ({
  code: DUPLICATE,
  reason: `the unique index on ${keys} has an entry with the same keys`,
});

type Row = [what: string, reply: Document, ...outcomes: InsertOutcome[]];

const replies: readonly Row[] = [
  ['written, and the write concern met', all, 'stored', 'stored'],
  ['one duplicate among others', first(DUPLICATE), 'id exists', 'stored'],
  ['refused by the validator', second({ code: INVALID }), 'stored', invalid],
  [
    'a duplicate of the key _id, by name',
    second({ code: DUPLICATE, keyPattern: { _id: 1 } }),
    ...(['stored', 'id exists'] as const),
  ],
  [
    'a duplicate in the unique index of an administrator',
    second({ code: DUPLICATE, keyPattern: { name: 1, tag: 1 } }),
    ...(['stored', otherIndex('name, tag')] as const),
  ],
  [
    'a duplicate in a unique index that begins with _id',
    second({ code: DUPLICATE, keyPattern: { _id: 1, name: 1 } }),
    ...(['stored', otherIndex('_id, name')] as const),
  ],
  ['one of them sent to a view', second({ code: VIEW }), 'stored', 'denied'],
  ['written, but the write concern not met', unmet(all), 'unclear', 'unclear'],
  ['a duplicate, and an unmet write concern', unmet(first(DUPLICATE)), 'not written', 'unclear'],
  ['a refusal, and an unmet write concern', unmet(first(INVALID)), 'not written', 'unclear'],
  [
    'a reply that does not speak of every document',
    { n: 0, writeErrors: [{ index: 0, code: DUPLICATE }] },
    ...(['id exists', 'unclear'] as const),
  ],
  ...ROUTER.map(
    (code) =>
      [`an error of a router: ${code}`, second({ code }), 'stored', 'unclear'] satisfies Row,
  ),
];

describe('The outcomes of an insert of two documents', () => {
  for (const [what, reply, ...outcomes] of replies) {
    it(`follow from the reply: ${what}`, () => {
      expect(insertResult(reply, 2).outcomes).to.deep.equal(outcomes);
    });
  }

  for (const [reply, message] of [
    [unmet(all), 'the server reports error 64 (WriteConcernFailed)'],
    [second({ code: 189 }), 'the server reports error 189'],
    [first(DUPLICATE), undefined],
  ] as const) {
    it(`have as their reason, without the server's text: ${message ?? 'none'}`, () => {
      const error = insertResult(reply, 2).error as Error | undefined;
      expect(error?.message).to.equal(message);
    });
  }
});

describe('The outcome of an insert that ended with an error', () => {
  const rejected = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });
  for (const [what, error, outcome] of [
    ['the rate limit of the server', rejected(462), 'not written'],
    ['not authorized', rejected(13), 'denied'],
    ['sent to a view', rejected(VIEW), 'denied'],
    ['a name that the server does not take', rejected(73), 'denied'],
    ['the connection lost', new MongoNetworkError('gone'), undefined],
    ['a server that is no primary any more', rejected(10107), undefined],
    ['interrupted by a step-down', rejected(11602), undefined],
    ['an error of Atlas about what was sent', rejected(8000), undefined],
  ] as const) {
    it(`is ${outcome ?? 'not known'} after: ${what}`, () => {
      expect(outcomeOfError(error)).to.equal(outcome);
    });
  }
});
