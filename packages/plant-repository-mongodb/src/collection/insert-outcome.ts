import {
  codeOf,
  credentialsRefused,
  NOT_SUPPORTED_ON_VIEW,
  ServerReplyError,
  UNAUTHORIZED,
} from '../connection/server-code.js';

/** The server's reply to one unordered insert. */
export interface InsertReply {
  /** How many documents it has written. */
  readonly n: number;
  readonly writeErrors: readonly WriteError[];
  /** Why what was written may not be durable; absent when the write concern was met. */
  readonly writeConcernError?: Error;
}

/** Why one document of an insert was not written. */
export interface WriteError {
  /** The position of the document in the insert. */
  readonly index: number;
  readonly code: number;
  readonly errmsg?: string;
  /** The keys of the unique index that has them already. Some servers leave it out. */
  readonly keyPattern?: Readonly<Record<string, unknown>>;
}

/** An insert that ended without a word about its documents. */
export interface InsertFailure {
  /** Whether a byte of it may have reached a server. */
  readonly sent: boolean;
  readonly error: unknown;
  /** Whether it was not tried, as it would surely have failed. */
  readonly refusedBeforehand?: boolean;
}

export type InsertResult = InsertReply | InsertFailure;

/**
 * What became of one document:
 * - `stored`: it is kept, by a majority and in the journal;
 * - `duplicate`: a document with its `_id` was there already: another's, or its own of before;
 * - `refused`: the server will not take it, by a validator or a unique index of an administrator;
 * - `not written`: by this attempt; the next one may succeed;
 * - `denied`: not written either, and the next attempt would end no better;
 * - `unclear`: it may have been written, may not be kept, or may be written later.
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
const TOO_LARGE = 10334;

/** The name of an index in the text of a server that does not report its keys. */
const FOREIGN_INDEX = / index: (?!_id_ )(\S+) dup key: /;

/** Codes about one document. Any other is taken for unclear: a router reports network errors like this. */
const BY_DOCUMENT: ReadonlyMap<number, InsertOutcome> = new Map([
  [DUPLICATE_KEY, 'duplicate'],
  [INVALID, 'refused'],
  [TOO_LARGE, 'refused'],
  [NOT_SUPPORTED_ON_VIEW, 'denied'],
]);

const REASONS: ReadonlyMap<number, string> = new Map([
  [INVALID, 'the validator of the collection refuses the plant'],
  [TOO_LARGE, 'the plant is too large'],
]);

/** Codes of a whole insert that the server looks at no further. */
const BY_COMMAND: ReadonlyMap<unknown, InsertOutcome> = new Map([
  [UNAUTHORIZED, 'denied'],
  [NOT_SUPPORTED_ON_VIEW, 'denied'],
  [73, 'denied'], // InvalidNamespace
  [462, 'not written'], // IngressRequestRateLimitExceeded
]);

function ofFailure({ sent, error, refusedBeforehand }: InsertFailure): InsertOutcome {
  if (sent) return BY_COMMAND.get(codeOf(error)) ?? 'unclear';
  return refusedBeforehand || credentialsRefused(error) ? 'denied' : 'not written';
}

/** The keys or the name of the unique index other than that on `_id` that the document violates. */
function foreignIndex({ code, keyPattern = {}, errmsg = '' }: WriteError): string | undefined {
  if (code !== DUPLICATE_KEY) return undefined;
  const keys = Object.keys(keyPattern).join(', ');
  if (keys === '') return FOREIGN_INDEX.exec(errmsg)?.[1];
  return keys === '_id' ? undefined : keys;
}

function ofDocument(error: WriteError): InsertOutcome {
  if (foreignIndex(error) !== undefined) return 'refused';
  return BY_DOCUMENT.get(error.code) ?? 'unclear';
}

/** Why the server refused a document, without a word of the document. */
export function refusalReason(error: WriteError): string {
  const index = foreignIndex(error);
  if (index !== undefined) return `the unique index on ${index} has an entry with the same keys`;
  return REASONS.get(error.code) ?? new ServerReplyError(error.code).message;
}

/** What went wrong with an insert as a whole, if anything. */
export function errorOf(result: InsertResult): unknown {
  return 'sent' in result ? result.error : result.writeConcernError;
}

/** What became of each of the `size` documents of an insert, in their order. */
export function insertOutcomes(result: InsertResult, size: number): InsertOutcome[] {
  if ('sent' in result) return Array<InsertOutcome>(size).fill(ofFailure(result));
  const { n, writeErrors, writeConcernError } = result;
  const durable = n + writeErrors.length === size && writeConcernError === undefined;
  const outcomes = Array<InsertOutcome>(size).fill(durable ? 'stored' : 'unclear');
  for (const error of writeErrors) outcomes[error.index] = ofDocument(error);
  return outcomes;
}
