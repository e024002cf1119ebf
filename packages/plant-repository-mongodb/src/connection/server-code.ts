import type { Finding } from '@plant-store/plant-repository-group-commit';
import { type Document, MongoServerError } from 'mongodb';

/** The error code of a server when permissions are missing. */
export const UNAUTHORIZED = 13;

/**
 * The error code of Atlas, which refuses a command that exceeds a quota or needs a permission, before it is carried out.
 * Source: Atlas FAQ, "What happens if I reach my Atlas storage limit?" Not tried with Atlas.
 */
export const ATLAS_REFUSES = 8000;

const UNTRUSTED = 'the server certificate is not trusted: set tlsCAFile to the CA certificate';

/**
 * What an error code means. Without `reply`, the problem may pass; without `refusesInserts`, it is unknown whether an insert
 * with this reply has written plants.
 */
interface CodeMeaning {
  /** What the reply to a check, a look-up or a page means; for an insert as well with `refusesInserts`. */
  readonly reply?: 'unusable' | 'not now';
  /** Whether a server that replies this to an insert has written nothing. */
  readonly refusesInserts?: true;
  /** Whether it refuses the credentials, if it ends a handshake. */
  readonly refusesLogin?: true;
  /** For operators, where the message of the error does not say it. */
  readonly sentence?: string;
}

/**
 * The codes of MongoDB, Node.js and OpenSSL, and what they mean. Sources: MongoDB's `error_codes.yml`; nodejs.org/api/tls.html,
 * "X509 certificate error codes".
 */
const MEANINGS: ReadonlyMap<unknown, CodeMeaning> = new Map<unknown, CodeMeaning>([
  // BadValue: a standalone without a journal.
  [2, { reply: 'unusable' }],
  // UserNotFound, even for a certificate.
  [11, { refusesLogin: true }],
  [UNAUTHORIZED, { reply: 'unusable', refusesInserts: true }],
  // AuthenticationFailed.
  [18, { refusesLogin: true }],
  // IllegalOperation.
  [20, { reply: 'unusable' }],
  // InvalidOptions.
  [72, { reply: 'unusable' }],
  // InvalidNamespace.
  [73, { reply: 'unusable', refusesInserts: true }],
  // CommandNotSupportedOnView: an administrator has replaced the collection.
  [166, { reply: 'unusable', refusesInserts: true }],
  // MechanismUnavailable.
  [334, { refusesLogin: true, sentence: 'the server does not support this authMechanism' }],
  // IngressRequestRateLimitExceeded.
  [462, { reply: 'not now', refusesInserts: true }],
  [ATLAS_REFUSES, { reply: 'unusable', refusesInserts: true, refusesLogin: true }],
  // DatabaseDifferCase.
  [13297, { reply: 'unusable' }],
  // A name that is too long for MongoDB 4.4.
  [4862100, { reply: 'unusable' }],
  ['SELF_SIGNED_CERT_IN_CHAIN', { sentence: UNTRUSTED }],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', { sentence: UNTRUSTED }],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', { sentence: UNTRUSTED }],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', { sentence: UNTRUSTED }],
  ['CERT_HAS_EXPIRED', { sentence: 'the server certificate has expired' }],
  ['ERR_TLS_CERT_ALTNAME_INVALID', { sentence: 'the server certificate is for another host name' }],
]);

/** Returns what the code of an error means. */
export const codeMeaning = (code: unknown): CodeMeaning => MEANINGS.get(code) ?? {};

/** Returns what a server's reply to an insert means if it has written nothing; otherwise, that this is unknown. */
export function insertFinding(code: unknown): 'unusable' | 'not now' | 'unknown' {
  const { reply, refusesInserts } = codeMeaning(code);
  return (refusesInserts && reply) || 'unknown';
}

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
