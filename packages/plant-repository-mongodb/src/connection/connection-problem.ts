import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerSelectionError } from 'mongodb';
import { codeOf, credentialsRefused } from './server-code.js';

/** The options of a connection string that the explanation of an error depends on. */
export interface ConnectionOptions {
  readonly tls: boolean;
  readonly replicaSet: string | undefined;
  /** Whether a client certificate names the user, instead of a password. */
  readonly x509: boolean;
  readonly clientCertificate: boolean;
}

/** The part of the driver's `TopologyDescription` that the explanation of an error depends on. */
export interface Topology {
  readonly type: string;
  readonly servers: ReadonlyMap<string, { readonly type: string; readonly error: Error | null }>;
}

/** The explanation for a host that accepts connections, or packets, but sends nothing. */
const SILENT = 'the server does not respond';

const UNTRUSTED =
  'the certificate of the server is not trusted: tlsCAFile must name the certificate of its authority';

/** Codes of Node.js and OpenSSL. Source: nodejs.org/api/tls.html, "X509 certificate error codes". */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  CERT_NOT_YET_VALID: 'the certificate of the server is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another host name',
};

const NO_TLS = 'the server closed the connection: it may require tls=true';
const CERTIFICATE_MISSING =
  'the server closed the connection: it may require a client certificate in tlsCertificateKeyFile';
const CERTIFICATE_REFUSED =
  'the server closed the connection: it may not trust the certificate in tlsCertificateKeyFile';
const PLAIN = 'the TLS handshake failed: the server may not use TLS';

const PASSWORD =
  'the user name or the password is wrong, or authSource is not the database of the user';
const USER_UNKNOWN =
  'no user of $external has the subject of the certificate in tlsCertificateKeyFile';
const USER_MISSING =
  'authMechanism=MONGODB-X509 needs a client certificate in tlsCertificateKeyFile';
const MECHANISM = 'the server does not accept this authMechanism';

const MECHANISM_UNAVAILABLE = 334;

/** Returns one sentence that explains why connecting failed, without credentials. */
export function connectionProblem(error: unknown, options: ConnectionOptions): string {
  const chain = causesOf(error);
  const codes = chain.map(codeOf);
  return (
    credentialsProblem(error, codes, options) ??
    codes.map((code) => TLS_PROBLEMS[String(code)]).find((it) => it !== undefined) ??
    handshakeProblem(chain, codes, options) ??
    (messagesOf(error).join(': ') || SILENT)
  );
}

/** Returns an error with the sentence of {@link connectionProblem} and the first code among the causes. */
export function explainedError(error: unknown, options: ConnectionOptions): Error {
  const code = causesOf(error)
    .map(codeOf)
    .find((it) => it !== undefined);
  return Object.assign(new Error(connectionProblem(error, options)), { code });
}

/** Returns one sentence that explains why no known server accepts writes. */
export function topologyProblem(
  topology: Topology | undefined,
  options: ConnectionOptions,
): string {
  if (topology === undefined) return SILENT;
  const servers = [...topology.servers.values()];
  const failed = servers.find(({ error }) => error);
  const is = (type: string) => servers.some((server) => server.type === type);
  // The driver forgets hosts that report another replica set, or none.
  if (servers.length === 0) return `no host belongs to the replica set ${options.replicaSet}`;
  if (is('RSGhost')) return 'the replica set is not initiated: run rs.initiate()';
  if (!is('RSSecondary')) return failed ? connectionProblem(failed.error, options) : SILENT;
  if (topology.type === 'Single') return 'the server is a secondary: it accepts no writes';
  return ['the replica set has no primary', ...messagesOf(failed?.error)].join(': ');
}

/** The messages of an error and its causes, without repetitions. */
function messagesOf(error: unknown): string[] {
  return [...new Set(causesOf(error).map(({ message }) => message))];
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function credentialsProblem(
  error: unknown,
  codes: readonly unknown[],
  { x509, clientCertificate }: ConnectionOptions,
): string | undefined {
  if (codes.includes(MECHANISM_UNAVAILABLE)) return MECHANISM;
  if (!credentialsRefused(error)) return undefined;
  if (!x509) return PASSWORD;
  return clientCertificate ? USER_UNKNOWN : USER_MISSING;
}

/** A connection that ends in the handshake gives no reason; the options show the likely one. */
function handshakeProblem(
  chain: readonly Error[],
  codes: readonly unknown[],
  { tls, clientCertificate }: ConnectionOptions,
): string | undefined {
  if (chain.some(isTimeout)) return SILENT;
  const certificate = clientCertificate ? CERTIFICATE_REFUSED : CERTIFICATE_MISSING;
  if (codes.some((code) => /^ERR_SSL_.*ALERT/.test(String(code)))) return certificate;
  if (chain.some(isClosedInHandshake)) return tls ? certificate : NO_TLS;
  const broken = codes.some((code) => code === 'ECONNRESET' || /^ERR_SSL_/.test(String(code)));
  return tls && broken ? PLAIN : undefined;
}

/** The driver ends the wait for a host with errors of its own, this package with an abort signal. */
function isTimeout(error: Error): boolean {
  return (
    error instanceof MongoNetworkTimeoutError ||
    ['TimeoutError', 'MongoWaitQueueTimeoutError'].includes(error.name) ||
    (error instanceof MongoServerSelectionError && error.cause === undefined)
  );
}

/** The driver's handshake follows that of TLS. */
function isClosedInHandshake(error: Error): boolean {
  return (
    error instanceof MongoNetworkError &&
    error.hasErrorLabel('HandshakeError') &&
    /( closed|ECONNRESET)$/.test(error.message)
  );
}
