import type { InsertResult, PlantFinding } from '@plant-store/plant-repository-group-commit';
import type { Document } from 'mongodb';
import { insertFinding, ServerReplyError } from '../connection/problem.js';

const DUPLICATE_KEY = 11000;
const INVALID = 121;

/** Returns the findings of the `size` documents of an unordered insert, from the server's reply. */
export function insertResult(reply: Document, size: number): InsertResult {
  const { n, writeErrors = [], writeConcernError: unmet } = reply;
  const isDurable = n + writeErrors.length === size && unmet === undefined;
  const findings = Array<PlantFinding>(size).fill(isDurable ? 'stored' : 'unknown');
  let cause = unmet;
  for (const error of writeErrors) {
    const finding = findingOf(error);
    if (finding === 'unknown' || finding === 'unusable') cause ??= error;
    // If the write concern was met, a majority has journaled whatever the look-up will find, whatever the replica set's
    // defaults.
    findings[error.index] = finding !== 'unknown' && unmet ? 'not now' : finding;
  }
  return cause ? { findings, error: new ServerReplyError(cause) } : { findings };
}

/**
 * Returns the finding about one document. Most error codes mean `unknown`, because a router reports network errors as
 * write errors.
 */
function findingOf({ code, keyPattern = {} }: Document): PlantFinding {
  if (code === INVALID) {
    return {
      finding: 'plant refused',
      code,
      reason: 'the validator of the collection refuses the plant',
    };
  }
  if (code !== DUPLICATE_KEY) return insertFinding(code);
  const keys = Object.keys(keyPattern).join(', ');
  if (keys === '' || keys === '_id') return 'id exists';
  return {
    finding: 'plant refused',
    code,
    reason: `the unique index on ${keys} has an entry with the same keys`,
  };
}
