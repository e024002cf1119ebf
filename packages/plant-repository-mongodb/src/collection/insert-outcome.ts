import type {
  InsertOutcome,
  InsertResult,
  Refusal,
} from '@plant-store/plant-repository-group-commit';
import type { Document } from 'mongodb';
import {
  codeOf,
  NOT_SUPPORTED_ON_VIEW,
  ServerReplyError,
  UNAUTHORIZED,
} from '../connection/server-code.js';

/** Why one document of an insert was not written. */
interface WriteError {
  /** The position of the document in the insert. */
  readonly index: number;
  readonly code: number;
  /** The fields of the violated unique index. */
  readonly keyPattern?: Readonly<Record<string, unknown>>;
}

const DUPLICATE_KEY = 11000;
const INVALID = 121;

/** Error codes with which a server rejects a whole insert before it writes a document. */
const BY_COMMAND: ReadonlyMap<unknown, 'denied' | 'not written'> = new Map([
  [UNAUTHORIZED, 'denied'],
  [NOT_SUPPORTED_ON_VIEW, 'denied'],
  [73, 'denied'], // InvalidNamespace
  [462, 'not written'], // IngressRequestRateLimitExceeded
] as const);

/** Returns the outcome of every document when a server replied with this error; `undefined` when it is not known. */
export function outcomeOfError(error: unknown): 'denied' | 'not written' | undefined {
  return BY_COMMAND.get(codeOf(error));
}

/** Returns the outcomes of the `size` documents of an unordered insert, from the server's reply. */
export function insertResult(reply: Document, size: number): InsertResult {
  const { n, writeConcernError: unmet } = reply;
  const writeErrors: readonly WriteError[] = reply.writeErrors ?? [];
  const isDurable = n + writeErrors.length === size && unmet === undefined;
  const outcomes = Array<InsertOutcome>(size).fill(isDurable ? 'stored' : 'unclear');
  for (const error of writeErrors) {
    const outcome = outcomeOf(error);
    // A met write concern proves that a majority has journalled what is looked up then, whatever the set's defaults are.
    const isLookedUp = outcome === 'id exists' || typeof outcome === 'object';
    outcomes[error.index] = isLookedUp && unmet ? 'not written' : outcome;
  }
  const unclear = unmet ?? writeErrors.find((error) => outcomeOf(error) === 'unclear');
  if (unclear === undefined) return { outcomes };
  return { outcomes, error: new ServerReplyError(unclear.code, unclear.codeName) };
}

/** The outcome of one document. Most codes are unclear, because a router reports network errors in this way. */
function outcomeOf(error: WriteError): 'id exists' | 'denied' | 'unclear' | Refusal {
  const { code } = error;
  const index = otherIndex(error);
  if (index !== undefined) {
    return { code, reason: `the unique index on ${index} has an entry with the same keys` };
  }
  if (code === INVALID) {
    return { code, reason: 'the validator of the collection refuses the plant' };
  }
  if (code === DUPLICATE_KEY) return 'id exists';
  return code === NOT_SUPPORTED_ON_VIEW ? 'denied' : 'unclear';
}

/** The fields of the violated unique index, unless it is the one on `_id`. */
function otherIndex({ code, keyPattern = {} }: WriteError): string | undefined {
  const keys = Object.keys(keyPattern).join(', ');
  return code !== DUPLICATE_KEY || keys === '' || keys === '_id' ? undefined : keys;
}
