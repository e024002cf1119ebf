import {
  codeOf,
  credentialsRefused,
  NOT_SUPPORTED_ON_VIEW,
  ServerReplyError,
  UNAUTHORIZED,
} from '../connection/server-code.js';

/** The server's reply to one unordered insert. */
export interface InsertReply {
  readonly kind: 'reply';
  /** How many documents were written. */
  readonly n: number;
  readonly writeErrors: readonly WriteError[];
  /** Why written documents may not be durable; absent when the write concern was met. */
  readonly writeConcernError?: Error;
}

/** Why one document of an insert was not written. */
export interface WriteError {
  /** The position of the document in the insert. */
  readonly index: number;
  readonly code: number;
  /** The fields of the violated unique index. */
  readonly keyPattern?: Readonly<Record<string, unknown>>;
}

/**
 * An insert that ended without a reply about its documents:
 * - `failed`: a part of it may have reached a server;
 * - `not sent`: no server was found, or no connection;
 * - `refused`: it was not sent, because it would certainly have failed.
 */
export interface InsertFailure {
  readonly kind: 'failed' | 'not sent' | 'refused';
  readonly error: unknown;
}

/** How an insert ended: with the server's reply, or without one. */
export type InsertResult = InsertReply | InsertFailure;

/**
 * The outcome of one document of an insert:
 * - `stored`: a majority has it in its journals;
 * - `duplicate`: a document with its `_id` exists, of another create or of an earlier attempt of this one;
 * - `refused`: a validator or a unique index of an administrator does not accept it;
 * - `not written`: this attempt did not write it; the next one may succeed;
 * - `denied`: this attempt did not write it, and the next one would fail in the same way;
 * - `unclear`: it may have been written, may be rolled back, or may be written later.
 */
export type InsertOutcome =
  | 'stored'
  | 'duplicate'
  | 'refused'
  | 'not written'
  | 'denied'
  | 'unclear';

const DUPLICATE_KEY = 11000;
const INVALID = 121;

/** Error codes about one document. Any other is unclear, because a router reports network errors in this way. */
const BY_DOCUMENT: ReadonlyMap<number, InsertOutcome> = new Map([
  [DUPLICATE_KEY, 'duplicate'],
  [INVALID, 'refused'],
  [NOT_SUPPORTED_ON_VIEW, 'denied'],
]);

/** Error codes with which a server rejects a whole insert before it writes a document. */
const BY_COMMAND: ReadonlyMap<unknown, InsertOutcome> = new Map([
  [UNAUTHORIZED, 'denied'],
  [NOT_SUPPORTED_ON_VIEW, 'denied'],
  [73, 'denied'], // InvalidNamespace
  [462, 'not written'], // IngressRequestRateLimitExceeded
]);

function ofFailure({ kind, error }: InsertFailure): InsertOutcome {
  if (kind === 'failed') return BY_COMMAND.get(codeOf(error)) ?? 'unclear';
  return kind === 'refused' || credentialsRefused(error) ? 'denied' : 'not written';
}

/** The fields of the violated unique index, unless it is the one on `_id`. */
function otherIndex({ code, keyPattern = {} }: WriteError): string | undefined {
  const keys = Object.keys(keyPattern).join(', ');
  return code !== DUPLICATE_KEY || keys === '' || keys === '_id' ? undefined : keys;
}

function ofDocument(error: WriteError): InsertOutcome {
  if (otherIndex(error) !== undefined) return 'refused';
  return BY_DOCUMENT.get(error.code) ?? 'unclear';
}

/** Returns why the server refused a document, without any value of the document. */
export function refusalReason(error: WriteError): string {
  const index = otherIndex(error);
  return index === undefined
    ? 'the validator of the collection refuses the plant'
    : `the unique index on ${index} has an entry with the same keys`;
}

/** Returns why an insert has plants whose outcome is not known; `undefined` when it has none. */
export function errorOf(result: InsertResult): unknown {
  if (result.kind !== 'reply') return result.error;
  const unclear = result.writeErrors.find((error) => ofDocument(error) === 'unclear');
  return result.writeConcernError ?? (unclear && new ServerReplyError(unclear.code));
}

/** Returns the outcomes of the `size` documents of an insert, in their order. */
export function insertOutcomes(result: InsertResult, size: number): InsertOutcome[] {
  if (result.kind !== 'reply') return Array<InsertOutcome>(size).fill(ofFailure(result));
  const { n, writeErrors, writeConcernError } = result;
  const durable = n + writeErrors.length === size && writeConcernError === undefined;
  const outcomes = Array<InsertOutcome>(size).fill(durable ? 'stored' : 'unclear');
  for (const error of writeErrors) {
    const outcome = ofDocument(error);
    // A met write concern proves that a majority has journalled what is read back then, whatever the set's defaults are.
    const isReadBack = outcome === 'duplicate' || outcome === 'refused';
    outcomes[error.index] = isReadBack && writeConcernError ? 'not written' : outcome;
  }
  return outcomes;
}
