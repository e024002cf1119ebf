import { MongoServerError, type MongoWriteConcernError } from 'mongodb';

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
 * The error reply of a server to a command, with its code only: the server's text quotes the command, and so the
 * plants.
 */
export class ServerReplyError extends Error {
  override readonly name = 'ServerReplyError';
  readonly code: number | undefined;
  readonly codeName: string | undefined;

  constructor(code: number | undefined, codeName?: string) {
    super(
      `the server reports error ${code ?? 'without a code'}${codeName ? ` (${codeName})` : ''}`,
    );
    this.code = code;
    this.codeName = codeName;
  }
}

/** Returns the `code` of an error, from a server or from the system. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Returns whether an error is a server's reply with this code. */
export function hasServerCode(error: unknown, code: number): boolean {
  return codeOf(error) === code;
}

/**
 * Returns whether the server refused the credentials when a connection was opened. For an operation that waited
 * for the connection of another, that refusal is a cause of the error.
 */
export function credentialsRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CREDENTIALS_REFUSED.has(codeOf(error)) || credentialsRefused(error.cause);
}

/** Returns why a write concern was not met, without the server's text. */
export function toWriteConcernError({ result }: MongoWriteConcernError): ServerReplyError {
  const { code, codeName } = result.writeConcernError;
  return new ServerReplyError(code, codeName);
}

/** Returns the error of a server without its text, and every other error as it is. */
export function withoutServerText(error: Error): Error {
  if (!(error instanceof MongoServerError) || error.hasErrorLabel('HandshakeError')) return error;
  const { code, codeName } = error;
  return new ServerReplyError(typeof code === 'number' ? code : undefined, codeName);
}
