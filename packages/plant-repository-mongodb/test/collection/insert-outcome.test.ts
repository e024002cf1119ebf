import { expect } from 'chai';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import {
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

const rows: Record<string, { result: InsertResult; outcomes: string[] }> = {
  'written, and the write concern met': { result: all(2), outcomes: ['stored', 'stored'] },
  'one duplicate among others': {
    result: { kind: 'reply', n: 1, writeErrors: [{ index: 0, code: DUPLICATE }] },
    outcomes: ['duplicate', 'stored'],
  },
  'refused by the validator': {
    result: { kind: 'reply', n: 1, writeErrors: [{ index: 1, code: INVALID }] },
    outcomes: ['stored', 'refused'],
  },
  'a duplicate of the key _id, by name': {
    result: second({ code: DUPLICATE, keyPattern: { _id: 1 } }),
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
  'one of them sent to a view': {
    result: second({ code: VIEW }),
    outcomes: ['stored', 'denied'],
  },
  'written, but the write concern not met': {
    result: { kind: 'reply', n: 2, writeErrors: [], writeConcernError: new Error('timed out') },
    outcomes: ['unclear', 'unclear'],
  },
  'a duplicate together with a write concern error': {
    result: {
      kind: 'reply',
      n: 1,
      writeErrors: [{ index: 0, code: DUPLICATE }],
      writeConcernError: new Error('timed out'),
    },
    outcomes: ['not written', 'unclear'],
  },
  'a refusal together with a write concern error': {
    result: {
      kind: 'reply',
      n: 1,
      writeErrors: [{ index: 0, code: INVALID }],
      writeConcernError: new Error('timed out'),
    },
    outcomes: ['not written', 'unclear'],
  },
  'a reply that does not speak of every document': {
    result: { kind: 'reply', n: 0, writeErrors: [{ index: 0, code: DUPLICATE }] },
    outcomes: ['duplicate', 'unclear'],
  },
  'the connection lost after it was sent': {
    result: { kind: 'failed', error: new MongoNetworkError('gone') },
    outcomes: ['unclear', 'unclear'],
  },
  'a server that is no primary any more': {
    result: { kind: 'failed', error: rejected(10107) },
    outcomes: ['unclear', 'unclear'],
  },
  'interrupted by a step-down': {
    result: { kind: 'failed', error: rejected(11602) },
    outcomes: ['unclear', 'unclear'],
  },
  'no server or no connection was found': {
    result: { kind: 'not sent', error: new Error('aborted') },
    outcomes: ['not written', 'not written'],
  },
  'turned away by the rate limit of the server': {
    result: { kind: 'failed', error: rejected(462) },
    outcomes: ['not written', 'not written'],
  },
  'not authorized': {
    result: { kind: 'failed', error: rejected(13) },
    outcomes: ['denied', 'denied'],
  },
  'sent to a view': {
    result: { kind: 'failed', error: rejected(VIEW) },
    outcomes: ['denied', 'denied'],
  },
  'sent to a collection whose name the server does not take': {
    result: { kind: 'failed', error: rejected(73) },
    outcomes: ['denied', 'denied'],
  },
  'turned away before it was sent': {
    result: { kind: 'refused', error: new Error('it is a view') },
    outcomes: ['denied', 'denied'],
  },
  'waited for a connection that was not authenticated': {
    result: { kind: 'not sent', error: new Error('pool cleared', { cause: rejected(18) }) },
    outcomes: ['denied', 'denied'],
  },
  'not authenticated by Atlas': {
    result: { kind: 'not sent', error: rejected(8000) },
    outcomes: ['denied', 'denied'],
  },
  'an error of Atlas about what was sent': {
    result: { kind: 'failed', error: rejected(8000) },
    outcomes: ['unclear', 'unclear'],
  },
  'not authenticated': {
    result: { kind: 'not sent', error: rejected(18) },
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
