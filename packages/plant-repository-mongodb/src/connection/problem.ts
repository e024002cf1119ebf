import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Explanation, type Finding, SILENT } from '@plant-store/plant-repository-group-commit';
import {
  type Document,
  type MongoClient,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoServerError,
  type ServerDescription,
} from 'mongodb';

/** Permissions are missing. */
export const UNAUTHORIZED = 13;

/**
 * Atlas refuses a command that exceeds a quota or needs a permission, before it is carried out. Source: Atlas FAQ, "What
 * happens if I reach my Atlas storage limit?" Not tried with Atlas.
 */
const ATLAS_REFUSES = 8000;

/** Replies that do not pass until an administrator acts. Source: MongoDB's `error_codes.yml`. */
const UNUSABLE: ReadonlySet<unknown> = new Set([
  2, // BadValue: a standalone without a journal.
  UNAUTHORIZED,
  20, // IllegalOperation.
  72, // InvalidOptions.
  73, // InvalidNamespace.
  166, // CommandNotSupportedOnView: an administrator has replaced the collection.
  ATLAS_REFUSES,
  13297, // DatabaseDifferCase.
  4862100, // A name that is too long for MongoDB 4.4.
]);

/** Replies after which an insert has written nothing; 462 is IngressRequestRateLimitExceeded, which passes. */
const NOTHING_WRITTEN: ReadonlySet<unknown> = new Set([UNAUTHORIZED, 73, 166, 462, ATLAS_REFUSES]);

/** Refused logins: UserNotFound (even of a certificate), AuthenticationFailed, MechanismUnavailable. */
const LOGIN_REFUSED: ReadonlySet<unknown> = new Set([11, 18, 334, ATLAS_REFUSES]);

const UNTRUSTED = /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_)/;
const UNRESOLVED = /^(?:ENOTFOUND|EAI_AGAIN)$/;
const TIMEOUT = /^(?:MongoNetworkTimeoutError|MongoWaitQueueTimeoutError|NoResponseError)$/;

export const DENIED = 'the user may not read and insert them';

type ConnectionOptions = MongoClient['options'];

type Server = Pick<ServerDescription, 'type' | 'isWritable'> & { readonly error: Error | null };

/** The part of the driver's `TopologyDescription` that the explanation of an error depends on. */
export interface Topology {
  readonly type: string;
  readonly servers: ReadonlyMap<string, Server>;
}

/** A condition, what it means, and what operators read. Of several rows, the first one that applies counts. */
type Row = readonly [applies: unknown, finding: Finding, sentence: string];

/** Explains an error, using the error itself and the driver's view of the servers. */
export function problemOf(
  error: unknown,
  topology: Topology | undefined,
  options: ConnectionOptions,
): Explanation {
  if (error instanceof CollectionError) return { finding: error.finding, cause: error };
  const problem = errorProblem(error, options);
  if (/^(?:credentials refused|unusable)$/.test(problem.finding)) return problem;
  if (!topology && options.srvHost && problem.cause.message === SILENT) {
    const cause = new Error(`the SRV record of ${options.srvHost} was not resolved in time`);
    return { finding: 'no server', cause };
  }
  const servers = [...(topology?.servers.values() ?? [])];
  if (!topology || servers.some(({ isWritable }) => isWritable)) return problem;
  return topologyProblem(topology, options);
}

/** Explains an error by itself. */
function errorProblem(error: unknown, options: ConnectionOptions): Explanation {
  const { tls, tlsCertificateKeyFile: keyFile, credentials } = options;
  const chain = causesOf(error);
  const codes = chain.map(codeOf).filter((it) => it !== undefined);
  const has = (code: RegExp) => codes.some((it) => code.test(`${it}`));
  const needed = chain.find((it) => it instanceof MongoMissingDependencyError)?.dependencyName;
  const missing = needed === 'zstd' ? '@mongodb-js/zstd' : needed;
  // A reply from Atlas to a command has such a code when a quota is exceeded.
  const noLogin = chain.some((it) => LOGIN_REFUSED.has(codeOf(it)) && !isReply(it));
  const isX509 = credentials?.mechanism === 'MONGODB-X509';
  // A connection that ends during the driver's handshake, which follows the TLS handshake, gives no reason.
  const isClosed = chain.some(
    (it) => it instanceof MongoNetworkError && it.hasErrorLabel('HandshakeError'),
  );
  const noTls = has(/^ERR_SSL_.*ALERT/) || (isClosed && tls);
  const closed = 'the server closed the connection: it may';
  const messages = [...new Set(chain.map(({ message }) => message))].join(': ') || SILENT;
  const code = isReply(error) && error.code;
  // biome-ignore format: a table
  const rows: Row[] = [
    [missing, 'unusable', `an option needs the package ${missing}, which is not installed`],
    [has(/^334$/), 'credentials refused', 'the server does not support this authMechanism'],
    [noLogin && !isX509, 'credentials refused', 'the user name or the password is wrong, or authSource is not the database of the user'],
    [noLogin && keyFile, 'credentials refused', 'no user in $external matches the subject of the certificate in tlsCertificateKeyFile'],
    [noLogin, 'credentials refused', 'authMechanism=MONGODB-X509 requires a client certificate in tlsCertificateKeyFile'],
    [code === UNAUTHORIZED && credentials, 'unusable', DENIED],
    [code === UNAUTHORIZED, 'unusable', 'the server requires credentials, but the connection string contains none'],
    [UNUSABLE.has(code), 'unusable', messages],
    [isReply(error), 'not now', messages],
    [has(UNTRUSTED), 'no server', 'the server certificate is not trusted: set tlsCAFile to the CA certificate'],
    [chain.some(isTimeout), 'no server', SILENT],
    [noTls && keyFile && hasExpired(keyFile), 'no server', 'the certificate in tlsCertificateKeyFile has expired'],
    [noTls && keyFile, 'no server', `${closed} not trust the certificate in tlsCertificateKeyFile`],
    [noTls, 'no server', `${closed} require a client certificate in tlsCertificateKeyFile`],
    [isClosed, 'no server', `${closed} require tls=true`],
    [tls && has(/^(ECONNRESET|ERR_SSL_)/), 'no server', 'the TLS handshake failed: the server may not use TLS'],
  ];
  return firstOf(rows, ['otherwise', 'no server', messages], codes[0]);
}

/** Explains why no known server accepts writes. */
function topologyProblem({ type, servers }: Topology, options: ConnectionOptions): Explanation {
  const known = [...servers.values()];
  const is = (wanted: string) => known.some((server) => server.type === wanted);
  const finding = known.some(({ type }) => type !== 'Unknown') ? 'not now' : 'no server';
  const seeds = options.hosts.map(String);
  const [unresolved] = [...servers.keys()].filter(
    (host) => !seeds.includes(host) && isUnresolved(servers.get(host)?.error),
  );
  const failed = known.find(({ error }) => error);
  const reason = failed && errorProblem(failed.error, options).cause.message;
  const noPrimary = 'the replica set has no primary';
  // biome-ignore format: a table
  const rows: Row[] = [
    [unresolved, finding, `the name of ${unresolved} in the configuration of the replica set does not resolve`],
    // The driver forgets hosts that report another replica set, or none.
    [servers.size === 0, finding, `no host belongs to the replica set ${options.replicaSet}`],
    [is('RSGhost'), finding, 'the replica set is not initiated: run rs.initiate()'],
    [!is('RSSecondary'), finding, reason ?? SILENT],
    [type === 'Single', finding, 'the server is a secondary and does not accept writes'],
    [reason, finding, `${noPrimary}: ${reason}`],
  ];
  return firstOf(rows, ['otherwise', finding, noPrimary]);
}

function firstOf(rows: readonly Row[], otherwise: Row, code?: unknown): Explanation {
  const [, finding, sentence] = rows.find(([applies]) => applies) ?? otherwise;
  return { finding, cause: Object.assign(new Error(sentence), { code }) };
}

/** Returns what a server's reply to an insert means if it has written nothing; otherwise, that this is unknown. */
export function insertFinding(code: unknown): 'unusable' | 'not now' | 'unknown' {
  if (!NOTHING_WRITTEN.has(code)) return 'unknown';
  return UNUSABLE.has(code) ? 'unusable' : 'not now';
}

/** The driver ends the wait for a host with errors of its own, a caller with an abort signal. */
function isTimeout({ name, cause }: Error): boolean {
  return TIMEOUT.test(name) || (name === 'MongoServerSelectionError' && cause === undefined);
}

function isUnresolved(error: unknown): boolean {
  return causesOf(error).some((it) => UNRESOLVED.test(`${codeOf(it)}`));
}

function hasExpired(file: string): boolean {
  try {
    return Date.parse(new X509Certificate(readFileSync(file)).validTo) < Date.now();
  } catch {
    return false;
  }
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
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
 * A server's error reply, reduced to its code, because the server's message quotes the command and thus the plants. The
 * text of {@link ATLAS_REFUSES} does not, and nothing else says why.
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
