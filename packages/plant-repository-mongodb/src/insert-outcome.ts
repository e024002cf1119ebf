import { UNAUTHORIZED } from './server-code.js';

/** What the server said about one unordered insert. */
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
}

/** An insert that ended without a word about its documents. */
export interface InsertFailure {
  /** Whether a byte of it may have reached a server. */
  readonly sent: boolean;
  readonly error: unknown;
}

export type InsertResult = InsertReply | InsertFailure;

/**
 * What became of one document:
 * - `stored`: it is kept, by a majority and in the journal;
 * - `duplicate`: a document with its `_id` was there already: another's, or its own of before;
 * - `refused`: the server will never take it;
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

/** Codes about one document. Any other is taken for unclear: a router reports network errors like this. */
const BY_DOCUMENT: ReadonlyMap<number, InsertOutcome> = new Map([
  [11000, 'duplicate'],
  [121, 'refused'], // DocumentValidationFailure
  [10334, 'refused'], // BSONObjectTooLarge
]);

/** Codes of a whole insert that the server looks at no further. */
const BY_COMMAND: ReadonlyMap<unknown, InsertOutcome> = new Map([
  [UNAUTHORIZED, 'denied'],
  [462, 'not written'], // IngressRequestRateLimitExceeded
]);

const AUTHENTICATION_FAILED = 18;

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function ofFailure({ sent, error }: InsertFailure): InsertOutcome {
  const code = codeOf(error);
  if (!sent) return code === AUTHENTICATION_FAILED ? 'denied' : 'not written';
  return BY_COMMAND.get(code) ?? 'unclear';
}

/** What went wrong with an insert as a whole, if anything. */
export function failureOf(result: InsertResult): unknown {
  return 'sent' in result ? result.error : result.writeConcernError;
}

/** What became of each of the `size` documents of an insert, in their order. */
export function insertOutcomes(result: InsertResult, size: number): InsertOutcome[] {
  if ('sent' in result) return Array<InsertOutcome>(size).fill(ofFailure(result));
  const { n, writeErrors, writeConcernError } = result;
  const durable = n + writeErrors.length === size && writeConcernError === undefined;
  const outcomes = Array<InsertOutcome>(size).fill(durable ? 'stored' : 'unclear');
  for (const { index, code } of writeErrors) outcomes[index] = BY_DOCUMENT.get(code) ?? 'unclear';
  return outcomes;
}
