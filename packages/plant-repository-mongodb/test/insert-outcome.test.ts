import { expect } from 'chai';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { type InsertResult, insertOutcomes } from '../src/insert-outcome.js';

const DUPLICATE = 11000;
const INVALID = 121;
const TOO_LARGE = 10334;
const HOST_UNREACHABLE = 6;

const all = (n: number): InsertResult => ({ n, writeErrors: [] });
const rejected = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });

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
