import type { Finding } from '@plant-store/plant-repository-group-commit';
import { type Document, MongoServerError } from 'mongodb';

/** The error code of a server when permissions are missing. */
export const UNAUTHORIZED = 13;

/** The error code of a server when an administrator has replaced the collection by a view. */
export const NOT_SUPPORTED_ON_VIEW = 166;

/**
 * The error code of Atlas, which refuses a command that exceeds a quota or needs a permission, before it is carried out.
 * Source: Atlas FAQ, "What happens if I reach my Atlas storage limit?" Not tried with Atlas.
 */
export const ATLAS_REFUSES = 8000;

/** A storage problem that the driver does not report as an error. */
export class CollectionError extends Error {
  override readonly name = 'CollectionError';
  readonly finding: Finding;

  constructor(message: string, finding: Finding = 'unusable') {
    super(message);
    this.finding = finding;
  }
}

/**
 * A server's error reply, reduced to its code, because the server's message quotes the command and thus the plants. That
 * of {@link ATLAS_REFUSES} does not, and is kept: only its text says why.
 */
export class ServerReplyError extends Error {
  override readonly name = 'ServerReplyError';
  readonly code: number | undefined;

  constructor({ code, codeName, errmsg }: Document) {
    const name = codeName ? ` (${codeName})` : '';
    const text = code === ATLAS_REFUSES ? `: ${errmsg}` : '';
    super(`the server reports error ${code ?? 'without a code'}${name}${text}`);
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
  return new ServerReplyError(error.errorResponse);
}

/** Returns whether a server has replied to a command with this error. */
export function isReply(error: unknown): error is MongoServerError | ServerReplyError {
  if (error instanceof ServerReplyError) return true;
  return error instanceof MongoServerError && !error.hasErrorLabel('HandshakeError');
}
