import type { Finding } from '@plant-store/plant-repository-group-commit';
import { MongoServerError } from 'mongodb';

/** The error code of a server when permissions are missing. */
export const UNAUTHORIZED = 13;

/** The error code of a server when an administrator has replaced the collection by a view. */
export const NOT_SUPPORTED_ON_VIEW = 166;

/** A storage problem that the driver does not report as an error. */
export class CollectionError extends Error {
  override readonly name = 'CollectionError';
  readonly finding: Finding;

  constructor(message: string, finding: Finding = 'unusable') {
    super(message);
    this.finding = finding;
  }
}

/** A server's error reply, reduced to its code, because the server's message quotes the command and thus the plants. */
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

/** Returns an error that can be logged: the reply of a server becomes a {@link ServerReplyError}. */
export function withoutServerText(error: unknown): unknown {
  if (!isReply(error) || error instanceof ServerReplyError) return error;
  return new ServerReplyError(Number(error.code), error.codeName);
}

/** Returns whether a server has replied to a command with this error. */
export function isReply(error: unknown): error is MongoServerError | ServerReplyError {
  if (error instanceof ServerReplyError) return true;
  return error instanceof MongoServerError && !error.hasErrorLabel('HandshakeError');
}
