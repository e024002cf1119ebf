import { MongoMissingDependencyError, MongoServerError } from 'mongodb';

/** The error code of a server when permissions are missing. */
export const UNAUTHORIZED = 13;

/** The error code of a server when the name is that of a view. */
export const NOT_SUPPORTED_ON_VIEW = 166;

/**
 * UserNotFound (also for a certificate without a user), AuthenticationFailed, MechanismUnavailable, and the code
 * of Atlas for a wrong password.
 */
const CREDENTIALS_REFUSED: ReadonlySet<unknown> = new Set([11, 18, 334, 8000]);

/**
 * With these, a server refuses to write until an administrator changes something: BadValue (a standalone without a
 * journal), IllegalOperation, InvalidOptions, InvalidNamespace, CommandNotSupportedOnView, a name of a database that
 * differs only in case from another, and a name that is too long for MongoDB 4.4.
 */
const REFUSES_EVERY_PLANT: ReadonlySet<unknown> = new Set([2, 20, 72, 73, 166, 13297, 4862100]);

/** The error code of a server when the time limit of a command has passed: MaxTimeMSExpired. */
export const SLOW = 50;

/** The server has taken a write, and has not acknowledged it within the time limit of a check. */
export class SlowWriteError extends Error {
  override readonly name = 'SlowWriteError';
  readonly code = SLOW;
}

/** The database refuses every plant: permissions are missing, or the collection does not keep plants. */
export class RefusingDatabaseError extends Error {
  override readonly name = 'RefusingDatabaseError';
}

/** The error reply of a server, with its code only: the server's text quotes the command, and so the plants. */
export class ServerReplyError extends Error {
  override readonly name = 'ServerReplyError';
  readonly code: number | undefined;

  constructor(code: number | undefined, codeName?: string) {
    const name = codeName ? ` (${codeName})` : '';
    super(`the server reports error ${code ?? 'without a code'}${name}`);
    this.code = code;
  }
}

/** Returns the `code` of an error, from a server or from the system. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/**
 * Returns whether the server refused the credentials when a connection was opened. For an operation that waited
 * for the connection of another, that refusal is a cause of the error.
 */
export function credentialsRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CREDENTIALS_REFUSED.has(codeOf(error)) || credentialsRefused(error.cause);
}

/** Returns whether a check failed in such a way that every plant will be refused until an administrator acts. */
export function refusesEveryPlant(error: unknown): boolean {
  return (
    error instanceof RefusingDatabaseError ||
    error instanceof MongoMissingDependencyError ||
    (isReply(error) && REFUSES_EVERY_PLANT.has(codeOf(error)))
  );
}

/** Returns an error that can be logged: the reply of a server becomes a {@link ServerReplyError}. */
export function withoutServerText(error: unknown): unknown {
  if (!isReply(error)) return error;
  return new ServerReplyError(Number(error.code), error.codeName);
}

/** Returns whether a server has replied to a command with this error. */
export function isReply(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && !error.hasErrorLabel('HandshakeError');
}
