import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { NoResponseError, SILENT } from '@plant-store/plant-repository-group-commit';
import {
  type MongoClient,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerSelectionError,
} from 'mongodb';
import { codeOf, credentialsRefused, SLOW } from './server-code.js';

type ConnectionOptions = MongoClient['options'];

/** The part of the driver's `TopologyDescription` that the explanation of an error depends on. */
export interface Topology {
  readonly type: string;
  readonly servers: ReadonlyMap<string, { readonly type: string; readonly error: Error | null }>;
}

const UNTRUSTED =
  'the certificate of the server is not trusted: tlsCAFile must name the certificate of its authority';

/** Codes of Node.js, OpenSSL and MongoDB. Source: nodejs.org/api/tls.html, "X509 certificate error codes". */
const PROBLEMS: Readonly<Record<string, string>> = {
  334: 'the server does not accept this authMechanism', // MechanismUnavailable
  [SLOW]: 'writes are not acknowledged in time: they are blocked, or no majority acknowledges them',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another host name',
};

/** The system's errors when a name does not resolve. */
const UNRESOLVED: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** Returns an error with one sentence that explains why connecting failed, and the first code among the causes. */
export function explainedError(error: unknown, options: ConnectionOptions): Error {
  const code = codesOf(error).find((it) => it !== undefined);
  return Object.assign(new Error(connectionProblem(error, options)), { code });
}

function connectionProblem(error: unknown, options: ConnectionOptions): string {
  const chain = causesOf(error);
  const missing = chain.find((it) => it instanceof MongoMissingDependencyError);
  if (missing) return `an option needs the package ${packageOf(missing)}, which is not installed`;
  const known = codesOf(error).find((code) => String(code) in PROBLEMS);
  if (known !== undefined) return PROBLEMS[String(known)] ?? SILENT;
  if (credentialsRefused(error)) return credentialsProblem(options);
  if (chain.some(isTimeout)) return SILENT;
  return handshakeProblem(error, options) ?? (messagesOf(error).join(': ') || SILENT);
}

/** The driver names this one without its scope. */
function packageOf({ dependencyName: name }: MongoMissingDependencyError): string {
  return name === 'zstd' ? '@mongodb-js/zstd' : name;
}

function credentialsProblem({ credentials, tlsCertificateKeyFile }: ConnectionOptions): string {
  if (credentials?.mechanism !== 'MONGODB-X509') {
    return 'the user name or the password is wrong, or authSource is not the database of the user';
  }
  return tlsCertificateKeyFile === undefined
    ? 'authMechanism=MONGODB-X509 needs a client certificate in tlsCertificateKeyFile'
    : 'no user of $external has the subject of the certificate in tlsCertificateKeyFile';
}

/** A connection that ends in the handshake gives no reason; the options show the likely one. */
function handshakeProblem(error: unknown, options: ConnectionOptions): string | undefined {
  const codes = codesOf(error).map(String);
  if (codes.some((code) => /^ERR_SSL_.*ALERT/.test(code))) return certificateProblem(options);
  if (causesOf(error).some(isClosedInHandshake)) {
    if (options.tls) return certificateProblem(options);
    return 'the server closed the connection: it may require tls=true';
  }
  const isBroken = options.tls && codes.some((code) => /^(ECONNRESET|ERR_SSL_)/.test(code));
  return isBroken ? 'the TLS handshake failed: the server may not use TLS' : undefined;
}

function certificateProblem({ tlsCertificateKeyFile: file }: ConnectionOptions): string {
  const closed = 'the server closed the connection: it may';
  if (file === undefined) return `${closed} require a client certificate in tlsCertificateKeyFile`;
  return hasExpired(file)
    ? 'the certificate in tlsCertificateKeyFile has expired'
    : `${closed} not trust the certificate in tlsCertificateKeyFile`;
}

function hasExpired(file: string): boolean {
  try {
    return Date.parse(new X509Certificate(readFileSync(file)).validTo) < Date.now();
  } catch {
    return false;
  }
}

/** The driver ends the wait for a host with errors of its own, a caller with an abort signal. */
function isTimeout(error: Error): boolean {
  return (
    error instanceof MongoNetworkTimeoutError ||
    error instanceof NoResponseError ||
    error.name === 'MongoWaitQueueTimeoutError' ||
    (error instanceof MongoServerSelectionError && error.cause === undefined)
  );
}

/** The driver's handshake follows that of TLS. */
function isClosedInHandshake(error: Error): boolean {
  return error instanceof MongoNetworkError && error.hasErrorLabel('HandshakeError');
}

/** Returns one sentence that explains why no known server accepts writes. */
export function topologyProblem({ type, servers }: Topology, options: ConnectionOptions): string {
  const seeds = options.hosts.map(String);
  const unresolved = [...servers].find(
    ([address, { error }]) =>
      !seeds.includes(address) && codesOf(error).some((code) => UNRESOLVED.has(code)),
  );
  if (unresolved) {
    return `the name of ${unresolved[0]} in the configuration of the replica set does not resolve`;
  }
  // The driver forgets hosts that report another replica set, or none.
  if (servers.size === 0) return `no host belongs to the replica set ${options.replicaSet}`;
  const known = [...servers.values()];
  const failed = known.find(({ error }) => error);
  const is = (wanted: string) => known.some((server) => server.type === wanted);
  if (is('RSGhost')) return 'the replica set is not initiated: run rs.initiate()';
  if (!is('RSSecondary')) return failed ? connectionProblem(failed.error, options) : SILENT;
  if (type === 'Single') return 'the server is a secondary: it accepts no writes';
  const noPrimary = 'the replica set has no primary';
  return failed ? `${noPrimary}: ${connectionProblem(failed.error, options)}` : noPrimary;
}

function codesOf(error: unknown): unknown[] {
  return causesOf(error).map(codeOf);
}

/** The messages of an error and its causes, without repetitions. */
function messagesOf(error: unknown): string[] {
  return [...new Set(causesOf(error).map(({ message }) => message))];
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}
