import { expect } from 'chai';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import {
  type InsertOutcome,
  type InsertResult,
  insertOutcomes,
  refusalReason,
} from '../../src/collection/insert-outcome.js';

const DUPLICATE = 11000;
const INVALID = 121;
/** What a `mongos` reports: unreachable, not found, timed out, shut down, no primary, stepped down, stale. */
const ROUTER = [6, 7, 89, 91, 133, 189, 13388];
const VIEW = 166;
const all = (n: number): InsertResult => ({ kind: 'reply', n, writeErrors: [] });
const rejected = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });
const second = (error: { code: number; keyPattern?: object }): InsertResult => ({
  kind: 'reply',
  n: 1,
  writeErrors: [{ index: 1, ...error, keyPattern: { ...error.keyPattern } }],
});

const first = (code: number): InsertResult => ({
  kind: 'reply',
  n: 1,
  writeErrors: [{ index: 0, code }],
});
/** The write concern of the insert is not met. */
const unmet = (result: InsertResult): InsertResult => ({
  ...result,
  ...(result.kind === 'reply' && { writeConcernError: new Error('timed out') }),
});
const failed = (error: Error): InsertResult => ({ kind: 'failed', error });
const notSent = (error: Error): InsertResult => ({ kind: 'not sent', error });

const rows: readonly [what: string, result: InsertResult, ...outcomes: InsertOutcome[]][] = [
  ['written, and the write concern met', all(2), 'stored', 'stored'],
  ['one duplicate among others', first(DUPLICATE), 'duplicate', 'stored'],
  ['refused by the validator', second({ code: INVALID }), 'stored', 'refused'],
  [
    'a duplicate of the key _id, by name',
    second({ code: DUPLICATE, keyPattern: { _id: 1 } }),
    ...(['stored', 'duplicate'] as const),
  ],
  [
    'a duplicate in the unique index of an administrator',
    second({ code: DUPLICATE, keyPattern: { name: 1 } }),
    ...(['stored', 'refused'] as const),
  ],
  [
    'a duplicate in a unique index that begins with _id',
    second({ code: DUPLICATE, keyPattern: { _id: 1, name: 1 } }),
    ...(['stored', 'refused'] as const),
  ],
  ['one of them sent to a view', second({ code: VIEW }), 'stored', 'denied'],
  ['written, but the write concern not met', unmet(all(2)), 'unclear', 'unclear'],
  ['a duplicate, and an unmet write concern', unmet(first(DUPLICATE)), 'not written', 'unclear'],
  ['a refusal, and an unmet write concern', unmet(first(INVALID)), 'not written', 'unclear'],
  [
    'a reply that does not speak of every document',
    { kind: 'reply', n: 0, writeErrors: [{ index: 0, code: DUPLICATE }] },
    ...(['duplicate', 'unclear'] as const),
  ],
  ['the connection lost', failed(new MongoNetworkError('gone')), 'unclear', 'unclear'],
  ['a server that is no primary any more', failed(rejected(10107)), 'unclear', 'unclear'],
  ['interrupted by a step-down', failed(rejected(11602)), 'unclear', 'unclear'],
  ['an error of Atlas about what was sent', failed(rejected(8000)), 'unclear', 'unclear'],
  ['no connection was found', notSent(new Error('aborted')), 'not written', 'not written'],
  ['the rate limit of the server', failed(rejected(462)), 'not written', 'not written'],
  ['not authorized', failed(rejected(13)), 'denied', 'denied'],
  ['sent to a view', failed(rejected(VIEW)), 'denied', 'denied'],
  ['a name that the server does not take', failed(rejected(73)), 'denied', 'denied'],
  [
    'turned away before it was sent',
    { kind: 'refused', error: new Error('it is a view') },
    ...(['denied', 'denied'] as const),
  ],
  [
    'waited for a connection that was not authenticated',
    notSent(new Error('pool cleared', { cause: rejected(18) })),
    ...(['denied', 'denied'] as const),
  ],
  ['not authenticated by Atlas', notSent(rejected(8000)), 'denied', 'denied'],
  ['not authenticated', notSent(rejected(18)), 'denied', 'denied'],
];

describe('The outcome of an insert of two documents', () => {
  for (const [what, result, ...outcomes] of rows) {
    it(`is ${outcomes.join(' and ')} after: ${what}`, () => {
      expect(insertOutcomes(result, 2)).to.deep.equal(outcomes);
    });
  }
});

describe('An error of a router about one document', () => {
  for (const code of ROUTER) {
    it(`is unclear: ${code}`, () => {
      expect(insertOutcomes(second({ code }), 2)).to.deep.equal(['stored', 'unclear']);
    });
  }
});

describe('The reason of a refusal', () => {
  const reasons: Record<string, { code: number; keyPattern?: Record<string, unknown> }> = {
    'the validator of the collection refuses the plant': { code: INVALID },
    'the unique index on name, tag has an entry with the same keys': {
      ...{ code: DUPLICATE, keyPattern: { name: 1, tag: 1 } },
    },
  };
  for (const [reason, error] of Object.entries(reasons)) {
    it(`is reported without the plant: ${reason}`, () => {
      expect(refusalReason({ index: 0, ...error })).to.equal(reason);
    });
  }
});
