import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { NoResponseError, type Problem, SILENT } from '@plant-store/plant-repository-group-commit';
import {
  type MongoClient,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerSelectionError,
  type ServerDescription,
} from 'mongodb';
import { CollectionError, codeMeaning, codeOf, isReply } from './server-code.js';

type ConnectionOptions = MongoClient['options'];

type Server = Pick<ServerDescription, 'type' | 'isWritable'> & { readonly error: Error | null };

/** The part of the driver's `TopologyDescription` that the explanation of an error depends on. */
export interface Topology {
  readonly type: string;
  readonly servers: ReadonlyMap<string, Server>;
}

/** The system's errors when a name does not resolve. */
const UNRESOLVED: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** Explains an error, using the error itself and the driver's view of the servers. */
export function problemOf(
  error: unknown,
  topology: Topology | undefined,
  options: ConnectionOptions,
): Problem {
  if (error instanceof CollectionError) return { finding: error.finding, cause: error };
  const code = codesOf(error).find((it) => it !== undefined);
  const cause = Object.assign(new Error(connectionProblem(error, options)), { code });
  if (credentialsRefused(error)) return { finding: 'credentials refused', cause };
  const refusesAll = isReply(error) && codeMeaning(error.code).reply === 'unusable';
  if (refusesAll || error instanceof MongoMissingDependencyError) {
    return { finding: 'unusable', cause };
  }
  if (!topology && options.srvHost && cause.message === SILENT) {
    const unresolved = `the SRV record of ${options.srvHost} was not resolved in time`;
    return { finding: 'no server', cause: new Error(unresolved) };
  }
  const servers = [...(topology?.servers.values() ?? [])];
  if (!topology || servers.some(({ isWritable }) => isWritable)) {
    return { finding: isReply(error) ? 'not now' : 'no server', cause };
  }
  const responds = servers.some(({ type }) => type !== 'Unknown');
  const noPrimary = new Error(topologyProblem(topology, options));
  return { finding: responds ? 'not now' : 'no server', cause: noPrimary };
}

/** Returns one sentence that explains why connecting failed. */
function connectionProblem(error: unknown, options: ConnectionOptions): string {
  const chain = causesOf(error);
  const missing = chain.find((it) => it instanceof MongoMissingDependencyError)?.dependencyName;
  if (missing) {
    const name = missing === 'zstd' ? '@mongodb-js/zstd' : missing;
    return `an option needs the package ${name}, which is not installed`;
  }
  const [sentence] = codesOf(error).flatMap((code) => codeMeaning(code).sentence ?? []);
  if (sentence !== undefined) return sentence;
  if (credentialsRefused(error)) return credentialsProblem(options);
  if (chain.some(isTimeout)) return SILENT;
  const messages = new Set(chain.map(({ message }) => message));
  return handshakeProblem(chain, options) ?? ([...messages].join(': ') || SILENT);
}

/** Whether a handshake was refused, here or in a cause. A reply of Atlas has such a code when a quota is exceeded. */
function credentialsRefused(error: unknown): boolean {
  return causesOf(error).some((it) => codeMeaning(codeOf(it)).refusesLogin && !isReply(it));
}

function credentialsProblem({ credentials, tlsCertificateKeyFile }: ConnectionOptions): string {
  if (credentials?.mechanism !== 'MONGODB-X509') {
    return 'the user name or the password is wrong, or authSource is not the database of the user';
  }
  return tlsCertificateKeyFile === undefined
    ? 'authMechanism=MONGODB-X509 requires a client certificate in tlsCertificateKeyFile'
    : 'no user in $external matches the subject of the certificate in tlsCertificateKeyFile';
}

/** A connection that ends during the handshake gives no reason, so the likely one is derived from the options. */
function handshakeProblem(chain: Error[], options: ConnectionOptions): string | undefined {
  const has = (code: RegExp) => chain.some((it) => code.test(String(codeOf(it))));
  // The driver's handshake follows the TLS handshake.
  const isClosed = chain.some(
    (it) => it instanceof MongoNetworkError && it.hasErrorLabel('HandshakeError'),
  );
  if (has(/^ERR_SSL_.*ALERT/) || (isClosed && options.tls)) return certificateProblem(options);
  if (isClosed) return 'the server closed the connection: it may require tls=true';
  const isBroken = options.tls && has(/^(ECONNRESET|ERR_SSL_)/);
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

/** Returns one sentence that explains why no known server accepts writes. */
function topologyProblem({ type, servers }: Topology, options: ConnectionOptions): string {
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
  if (type === 'Single') return 'the server is a secondary and does not accept writes';
  const noPrimary = 'the replica set has no primary';
  return failed ? `${noPrimary}: ${connectionProblem(failed.error, options)}` : noPrimary;
}

function codesOf(error: unknown): unknown[] {
  return causesOf(error).map(codeOf);
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}
