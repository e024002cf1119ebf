import { expect } from 'chai';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import {
  type InsertResult,
  insertOutcomes,
  refusalReason,
} from '../../src/collection/insert-outcome.js';

const DUPLICATE = 11000;
const INVALID = 121;
const TOO_LARGE = 10334;
const HOST_UNREACHABLE = 6;
const VIEW = 166;
const byText = (index: string) =>
  `E11000 duplicate key error collection: plant-store.plants index: ${index} dup key: { name: "rose" }`;

const all = (n: number): InsertResult => ({ n, writeErrors: [] });
const rejected = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });
const second = (error: { code: number; keyPattern?: object; errmsg?: string }): InsertResult => ({
  n: 1,
  writeErrors: [{ index: 1, ...error, keyPattern: { ...error.keyPattern } }],
});

const rows: Record<string, { result: InsertResult; outcomes: string[] }> = {
  'written, and the write concern met': { result: all(2), outcomes: ['stored', 'stored'] },
  'one duplicate among others': {
    result: { n: 1, writeErrors: [{ index: 0, code: DUPLICATE }] },
    outcomes: ['duplicate', 'stored'],
  },
  'refused by the validator': {
    result: { n: 1, writeErrors: [{ index: 1, code: INVALID }] },
    outcomes: ['stored', 'refused'],
  },
  'a duplicate of the key _id, by name': {
    result: second({ code: DUPLICATE, keyPattern: { _id: 1 }, errmsg: byText('_id_') }),
    outcomes: ['stored', 'duplicate'],
  },
  'a duplicate in the unique index of an administrator': {
    result: second({ code: DUPLICATE, keyPattern: { name: 1 } }),
    outcomes: ['stored', 'refused'],
  },
  'a duplicate in a unique index that begins with _id': {
    result: second({ code: DUPLICATE, keyPattern: { _id: 1, name: 1 } }),
    outcomes: ['stored', 'refused'],
  },
  'a duplicate in another index, of a server that names it in its text alone': {
    result: second({ code: DUPLICATE, errmsg: byText('name_1') }),
    outcomes: ['stored', 'refused'],
  },
  'a duplicate of _id, of a server that names it in its text alone': {
    result: second({ code: DUPLICATE, errmsg: byText('_id_') }),
    outcomes: ['stored', 'duplicate'],
  },
  'one of them sent to a view': {
    result: second({ code: VIEW }),
    outcomes: ['stored', 'denied'],
  },
  'too large': {
    result: { n: 1, writeErrors: [{ index: 1, code: TOO_LARGE }] },
    outcomes: ['stored', 'refused'],
  },
  'written, but the write concern not met': {
    result: { n: 2, writeErrors: [], writeConcernError: new Error('timed out') },
    outcomes: ['unclear', 'unclear'],
  },
  'a duplicate together with a write concern error': {
    result: {
      n: 1,
      writeErrors: [{ index: 0, code: DUPLICATE }],
      writeConcernError: new Error('timed out'),
    },
    outcomes: ['duplicate', 'unclear'],
  },
  'a reply that does not speak of every document': {
    result: { n: 0, writeErrors: [{ index: 0, code: DUPLICATE }] },
    outcomes: ['duplicate', 'unclear'],
  },
  'an error of a router about one document': {
    result: { n: 1, writeErrors: [{ index: 1, code: HOST_UNREACHABLE }] },
    outcomes: ['stored', 'unclear'],
  },
  'the connection lost after it was sent': {
    result: { sent: true, error: new MongoNetworkError('gone') },
    outcomes: ['unclear', 'unclear'],
  },
  'a server that is no primary any more': {
    result: { sent: true, error: rejected(10107) },
    outcomes: ['unclear', 'unclear'],
  },
  'interrupted by a step-down': {
    result: { sent: true, error: rejected(11602) },
    outcomes: ['unclear', 'unclear'],
  },
  'no server or no connection was found': {
    result: { sent: false, error: new Error('aborted') },
    outcomes: ['not written', 'not written'],
  },
  'a connection lost before anything was sent': {
    result: { sent: false, error: new MongoNetworkError('gone') },
    outcomes: ['not written', 'not written'],
  },
  'turned away by the rate limit of the server': {
    result: { sent: true, error: rejected(462) },
    outcomes: ['not written', 'not written'],
  },
  'not authorized': {
    result: { sent: true, error: rejected(13) },
    outcomes: ['denied', 'denied'],
  },
  'sent to a view': {
    result: { sent: true, error: rejected(VIEW) },
    outcomes: ['denied', 'denied'],
  },
  'sent to a collection whose name the server does not take': {
    result: { sent: true, error: rejected(73) },
    outcomes: ['denied', 'denied'],
  },
  'turned away before it was sent': {
    result: { sent: false, refusedBeforehand: true, error: new Error('it is a view') },
    outcomes: ['denied', 'denied'],
  },
  'waited for a connection that was not authenticated': {
    result: { sent: false, error: new Error('pool cleared', { cause: rejected(18) }) },
    outcomes: ['denied', 'denied'],
  },
  'not authenticated by Atlas': {
    result: { sent: false, error: rejected(8000) },
    outcomes: ['denied', 'denied'],
  },
  'an error of Atlas about what was sent': {
    result: { sent: true, error: rejected(8000) },
    outcomes: ['unclear', 'unclear'],
  },
  'not authenticated': {
    result: { sent: false, error: rejected(18) },
    outcomes: ['denied', 'denied'],
  },
};

describe('The outcome of an insert of two documents', () => {
  for (const [what, { result, outcomes }] of Object.entries(rows)) {
    it(`is ${outcomes.join(' and ')} after: ${what}`, () => {
      expect(insertOutcomes(result, 2)).to.deep.equal(outcomes);
    });
  }
});

describe('The reason of a refusal', () => {
  const reasons: Record<string, { code: number; keyPattern?: Record<string, unknown> }> = {
    'the validator of the collection refuses the plant': { code: INVALID },
    'the plant is too large': { code: TOO_LARGE },
    'the unique index on name, tag has an entry with the same keys': {
      ...{ code: DUPLICATE, keyPattern: { name: 1, tag: 1 } },
    },
  };
  for (const [reason, error] of Object.entries(reasons)) {
    it(`is reported without the plant: ${reason}`, () => {
      expect(refusalReason({ index: 0, errmsg: byText('x'), ...error })).to.equal(reason);
    });
  }
});
