import {
  type MongoClient,
  MongoError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  type TopologyDescription,
} from 'mongodb';

/** Error codes of a server. */
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
const ILLEGAL_OPERATION = 20;
export const FAILED_VALIDATION = 121;
export const NOT_A_REPLICA_SET = 123;
export const DUPLICATE_KEY = 11000;

/** The reason if a permission is missing, or nobody is logged in. */
export const NOT_PERMITTED =
  'the service is not logged in as a user who may read and insert plants';

const STANDALONE =
  'the server is a standalone, which does not recognise an insert that is sent again: use a replica set, of one member for a trial';

const CLOSED =
  'the server closed the connection: it may require tls=true, or a client certificate (tlsCertificateKeyFile) that it trusts and that has not expired';

const SENTENCES: Readonly<Record<string, string>> = {
  [UNAUTHORIZED]: NOT_PERMITTED,
  [AUTHENTICATION_FAILED]:
    'the user name, the password, authSource or the client certificate is wrong',
  [ILLEGAL_OPERATION]: STANDALONE,
  [NOT_A_REPLICA_SET]: STANDALONE,
};

/** The reason while nothing is known. */
export const SILENT = 'the server does not respond';

/** Whether only an administrator can end this error. It proves that an insert has written nothing. */
export function needsAdministrator(error: unknown): error is MongoServerError {
  if (!(error instanceof MongoServerError)) return false;
  if (isHandshake(error)) return error.code === AUTHENTICATION_FAILED;
  return error.code === UNAUTHORIZED || error.code === ILLEGAL_OPERATION;
}

/** Whether a user is no longer logged in, or lacks a permission. */
export const isUnauthorized = (error: unknown) =>
  error instanceof MongoServerError && error.code === UNAUTHORIZED;

/** Whether the driver reports that a connection, or its login, was not accepted. */
export const isHandshake = (error: unknown) =>
  error instanceof MongoError && error.hasErrorLabel('HandshakeError');

/** Returns why a command failed, for administrators. Of a reply, it shows only the number: the text may quote a plant. */
export function reasonOf(error: unknown, client: MongoClient): string {
  if (error instanceof MongoServerError && !isHandshake(error)) {
    const { code, codeName } = error;
    return (
      sentenceOf(error) ?? `the server reports error ${code}${codeName ? ` (${codeName})` : ''}`
    );
  }
  const { reason } = error instanceof MongoServerSelectionError ? error : {};
  return reason ? whyNotWritable(reason, client) : messageOf(error);
}

/** The driver's view of the servers. */
export type Topology = Pick<TopologyDescription, 'type' | 'servers'>;

/** Returns why none of the known servers accepts writes. */
export function whyNotWritable({ type, servers }: Topology, client: MongoClient): string {
  const known = [...servers.values()];
  // The driver forgets hosts that report another replica set, or none.
  if (known.length === 0) return 'no host belongs to the replica set that replicaSet names';
  if (known.some((it) => it.type === 'RSGhost')) {
    return 'the replica set is not initiated: run rs.initiate()';
  }
  const errors = known.flatMap(({ error }) => (error ? messageOf(error) : []));
  const why = [...new Set(errors)].join('; ');
  if (known.every((it) => it.type === 'Unknown')) {
    return (why || SILENT) + tunnelAdvice([...servers.keys()], client);
  }
  if (type === 'Single') return 'the server is not a primary and does not accept writes';
  return `the replica set has no primary${why && `: ${why}`}`;
}

/** The driver connects to the members of a replica set by the names that these have for each other. */
function tunnelAdvice(members: readonly string[], { options }: MongoClient): string {
  const named: readonly string[] = options.hosts.map(String);
  if (members.some((it) => named.includes(it))) return '';
  return `. The members of the replica set are ${members.join(', ')}: if they cannot be reached by these names, as through a tunnel or kubectl port-forward, add directConnection=true`;
}

/** OpenSSL surrounds its sentence with places in its source code. */
const OPENSSL = /:SSL routines:[^:]*:([^:]*)/;

/** Returns the sentence of the first error in a chain of causes that has one, otherwise the message of the error. */
export function messageOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const sentence = sentenceOf(cause);
    if (sentence !== undefined) return sentence;
  }
  const message = error instanceof Error ? error.message : '';
  return OPENSSL.exec(message)?.[1] ?? (message || SILENT);
}

function sentenceOf(error: Error): string | undefined {
  if (error instanceof MongoServerError) return SENTENCES[`${error.code}`];
  if (error instanceof MongoNetworkTimeoutError) return SILENT;
  // TLS that the server does not accept ends the handshake without a reason.
  const isClosed = error.name === 'MongoNetworkError' && !error.cause && isHandshake(error);
  return isClosed ? CLOSED : undefined;
}
