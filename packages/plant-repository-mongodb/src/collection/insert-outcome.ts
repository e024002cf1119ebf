import type { InsertOutcome, InsertResult } from '@plant-store/plant-repository-group-commit';
import type { Document } from 'mongodb';
import { insertFinding, ServerReplyError } from '../connection/problem.js';

const DUPLICATE_KEY = 11000;
const INVALID = 121;

/** Returns the outcomes of the `size` documents of an unordered insert, from the server's reply. */
export function insertResult(reply: Document, size: number): InsertResult {
  const { n, writeErrors = [], writeConcernError: unmet } = reply;
  const isDurable = n + writeErrors.length === size && unmet === undefined;
  const outcomes = Array<InsertOutcome>(size).fill(isDurable ? 'stored' : 'unknown');
  let cause = unmet;
  for (const error of writeErrors) {
    const outcome = outcomeOf(error);
    if (outcome === 'unknown' || outcome === 'unusable') cause ??= error;
    // If the write concern was met, a majority has journaled whatever the look-up will find, whatever the replica set's
    // defaults.
    outcomes[error.index] = outcome !== 'unknown' && unmet ? 'not now' : outcome;
  }
  return cause ? { outcomes, error: new ServerReplyError(cause) } : { outcomes };
}

/**
 * Returns the outcome of one document. Most error codes mean `unknown`, because a router reports network errors as
 * write errors.
 */
function outcomeOf({ code, keyPattern = {} }: Document): InsertOutcome {
  if (code === INVALID) {
    return { code, reason: 'the validator of the collection refuses the plant' };
  }
  if (code !== DUPLICATE_KEY) return insertFinding(code);
  const keys = Object.keys(keyPattern).join(', ');
  if (keys === '' || keys === '_id') return 'id exists';
  return { code, reason: `the unique index on ${keys} has an entry with the same keys` };
}
