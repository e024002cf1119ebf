import { type Document, MongoError, MongoServerError, MongoWriteConcernError } from 'mongodb';

/**
 * What an error means. `unusable` and `not now` prove that an insert has written nothing; `unusable` and `credentials refused`
 * do not pass until an administrator acts. `unknown` leaves open what was written; with `unreachable` and `no response`, there
 * is no reply. `slow`: writes are not acknowledged in time.
 */
export type MongoFinding =
  | 'unusable'
  | 'credentials refused'
  | 'not now'
  | 'slow'
  | 'unknown'
  | 'unreachable'
  | 'no response';

export const SILENT = 'the server does not respond';
const SLOW = 'writes are not acknowledged in time: they are blocked, or no majority is available';
const NOT_PERMITTED = 'the service is not logged in as a user who may read and insert plants';
const STANDALONE =
  'the server is a standalone: use a replica set (one member is enough for development), which recognises an insert that is sent twice';
const CLOSED =
  'the server closed the connection: it may have no connection left, or require tls=true, or a client certificate (tlsCertificateKeyFile) that it trusts and that has not expired';

/**
 * What each error means, and the sentence that administrators read. Without a row, a server's reply to a command is
 * `unknown`, anything else `unreachable`; without a sentence, they read the number of a reply, or the message of the driver.
 */
// biome-ignore format: a table
const ERRORS: Readonly<Record<string, readonly [finding: MongoFinding, sentence?: string]>> = {
  // What a server replies to a command, by its error code. A code without a row proves nothing, because a router reports
  // network errors as replies. Source: MongoDB's `error_codes.yml`.
  'reply 2': ['unusable', 'the server accepts no durable inserts: it has no journal, or the collection is a time series'], // BadValue.
  'reply 13': ['unusable', NOT_PERMITTED], // Unauthorized.
  'reply 20': ['unusable', STANDALONE], // IllegalOperation.
  'reply 50': ['unknown', SLOW], // MaxTimeMSExpired.
  'reply 72': ['unusable', 'the collection is a time series'], // InvalidOptions.
  'reply 73': ['unusable', 'the name of the database or of the collection is invalid'], // InvalidNamespace.
  'reply 123': ['unusable', STANDALONE], // NotAReplicaSet.
  'reply 166': ['unusable', 'the collection is a view'], // CommandNotSupportedOnView.
  'reply 462': ['not now'], // IngressRequestRateLimitExceeded.
  'reply 8000': ['unusable'], // Atlas: a quota is exceeded, or a permission is missing. Source: its FAQ; not tried.
  'reply 13297': ['unusable', 'a database exists whose name differs only in case'], // DatabaseDifferCase.
  'reply 4862100': ['unusable', 'the name of the collection is too long'], // MongoDB 4.4.

  // What a server replies to the driver's login.
  'login 11': ['credentials refused'], // UserNotFound, even of a certificate.
  'login 18': ['credentials refused', 'the user name, the password, authSource or the client certificate is wrong'],
  'login 334': ['credentials refused'], // MechanismUnavailable.
  'login 8000': ['credentials refused'], // Atlas; not tried.

  // What the driver reports, by the name of its error.
  MongoInvalidArgumentError: ['unusable'],
  MongoMissingDependencyError: ['unusable'],
  MongoNetworkTimeoutError: ['no response', SILENT],
  'closed handshake': ['unreachable', CLOSED],
};

const NEEDS_ADMINISTRATOR: readonly MongoFinding[] = ['unusable', 'credentials refused'];
const FAILED_VALIDATION = 121;
const DUPLICATE_KEY = 11000;

/** An error of the database that may be logged and shown: it contains neither credentials nor plant data. */
export class MongoStoreError extends Error {
  override readonly name = 'MongoStoreError';
  readonly finding: MongoFinding;

  constructor(finding: MongoFinding, message = finding === 'slow' ? SLOW : SILENT) {
    super(message);
    this.finding = finding;
  }

  /** Returns whether a server has replied to a command with this error. */
  static isReply(error: unknown): error is MongoServerError {
    return error instanceof MongoServerError && !isHandshake(error);
  }

  /** Returns what an error means by itself. */
  static of(error: unknown): MongoStoreError {
    if (error instanceof MongoStoreError) return error;
    if (MongoStoreError.isReply(error)) {
      const reply = MongoStoreError.ofReply(error.errorResponse);
      // It may be written, whatever the reason.
      return error instanceof MongoWriteConcernError
        ? new MongoStoreError('unknown', reply.message)
        : reply;
    }
    const known = causesOf(error).find((it) => rowOf(it) in ERRORS);
    const [finding, sentence] = (known && ERRORS[rowOf(known)]) ?? ['unreachable'];
    return new MongoStoreError(finding, sentence ?? messageOf(known ?? error));
  }

  /**
   * Explains an error that a server has replied, without its text, which may quote a plant. The text of Atlas does not, and is
   * the only thing that says why.
   */
  static ofReply({ code, codeName, errmsg }: Document): MongoStoreError {
    const [finding, sentence] = ERRORS[`reply ${code}`] ?? ['unknown'];
    const name = codeName ? ` (${codeName})` : '';
    const text = code === 8000 ? `: ${errmsg}` : '';
    const reply = `the server reports error ${code ?? 'without a code'}${name}${text}`;
    return new MongoStoreError(finding, sentence ?? reply);
  }

  /** Returns why a server refuses one document of an insert; `undefined` if the error is not about this document. */
  static refusal({ code, keyPattern = {} }: Document): 'taken' | string | undefined {
    if (code === FAILED_VALIDATION) return 'the validator of the collection refuses the plant';
    if (code !== DUPLICATE_KEY) return undefined;
    // An older server names no keys.
    const keys = Object.keys(keyPattern).join(', ') || '_id';
    return keys === '_id' ? 'taken' : `the unique index on ${keys} has an entry with the same keys`;
  }

  get needsAdministrator(): boolean {
    return NEEDS_ADMINISTRATOR.includes(this.finding);
  }
}

const isHandshake = (error: Error) =>
  error instanceof MongoError && error.hasErrorLabel('HandshakeError');

/** Returns the key of an error in the table. Not every key has an entry. */
function rowOf(error: Error): string {
  if (error instanceof MongoServerError) {
    return `${MongoStoreError.isReply(error) ? 'reply' : 'login'} ${error.code}`;
  }
  // TLS that the server does not accept ends the handshake without a reason.
  const isClosed = error.name === 'MongoNetworkError' && !error.cause && isHandshake(error);
  return isClosed ? 'closed handshake' : error.name;
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** OpenSSL surrounds its sentence with places in its source code. */
const OPENSSL = /:SSL routines:[^:]*:([^:]*)/;

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return OPENSSL.exec(message)?.[1] ?? (message || SILENT);
}
