import { MongoServerError, type MongoWriteConcernError } from 'mongodb';

/** The code of a server's refusal because the permissions do not suffice. */
export const UNAUTHORIZED = 13;

/** The code of a server's refusal because the name is that of a view. */
export const NOT_SUPPORTED_ON_VIEW = 166;

/**
 * UserNotFound, which a certificate without a user leads to, AuthenticationFailed,
 * MechanismUnavailable, and what Atlas reports for a wrong password.
 */
const CREDENTIALS_REFUSED: ReadonlySet<unknown> = new Set([11, 18, 334, 8000]);

/**
 * A server's error reply to a command, by its code alone: the server's text quotes the command, and
 * with it the plants.
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

/** The code of an error, from a server or from the system. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Whether a server has replied with this code. */
export function hasServerCode(error: unknown, code: number): boolean {
  return codeOf(error) === code;
}

/**
 * Whether the server refused the credentials when a connection was opened. An operation that waited
 * for another one's connection gets an error with that refusal as its cause.
 */
export function credentialsRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CREDENTIALS_REFUSED.has(codeOf(error)) || credentialsRefused(error.cause);
}

/** Why a write concern was not met, without the server's text. */
export function concernError({ result }: MongoWriteConcernError): ServerReplyError {
  const { code, codeName } = result.writeConcernError;
  return new ServerReplyError(code, codeName);
}

/** The error without a server's text. What is not a reply to a command stays as it is. */
export function withoutText(error: Error): Error {
  if (!(error instanceof MongoServerError) || error.hasErrorLabel('HandshakeError')) return error;
  const { code, codeName } = error;
  return new ServerReplyError(typeof code === 'number' ? code : undefined, codeName);
}
