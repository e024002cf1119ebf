import { Client } from 'pg';

/** The connection string is invalid. The message gives the reason and contains no credentials. */
export class InvalidPostgresqlUriError extends Error {
  override readonly name = 'InvalidPostgresqlUriError';
  readonly code = 'INVALID_POSTGRESQL_URI';
}

/**
 * A user is required: otherwise `user:1234` would parse as host and port, and the password would be printed as a port.
 * The host may be a parameter instead, as the directory of a Unix socket is. A fragment would hide parameters, and a
 * parameter without `=` may be a part of a password.
 */
const URI =
  /^(postgres(?:ql)?:\/\/)(?:([^/?#@]+)@)?([^/?#@,]*)(\/[^/?#@]+)(?:\?((?:[^#&=]+=[^#&]*(?:&|$))*))?$/;

const FORMAT =
  'it must contain a user, exactly one host and a database; percent-encode special characters';

/** The parameters that `pg` passes on or carries out. */
const PARAMETERS: ReadonlySet<string> = new Set(
  `user password host port options application_name fallback_application_name
  statement_timeout lock_timeout idle_in_transaction_session_timeout
  ssl sslmode sslrootcert sslcert sslkey sslnegotiation`.split(/\s+/),
);

/** Parameters that have an effect only with TLS. */
const OF_TLS = ['ssl', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'];

/** libpq's weaker modes are treated as `verify-full`. */
const VERIFIES = /^(?:allow|prefer|require|verify-ca|verify-full)$/;

/** Variables with which libpq asks for security, unless they ask for nothing. `pg` reads two others. */
const IGNORED_SECURITY =
  /^PG(?:REQUIRE\w+|CHANNELBINDING|GSSENCMODE|SSL(?!MODE=|NEGOTIATION=)\w+)=(?!(?:0|disable|allow|prefer)?$)/;

/** Returns why a connection string is invalid, without credentials; `undefined` when it is valid. Reads its TLS files. */
export function postgresqlUriProblem(uri: string): string | undefined {
  try {
    readUri(uri);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be parsed';
  }
}

/**
 * Returns a connection string for `pg`, with the `sslmode` that holds.
 *
 * @throws {InvalidPostgresqlUriError} for a reason without credentials.
 */
export function readUri(uri: string, env: NodeJS.ProcessEnv = process.env): string {
  const [, scheme, user, host, database, query] = URI.exec(uri) ?? [];
  const given = new URLSearchParams(query);
  const hosts = given.get('host') ?? host;
  if (!scheme || !(user || given.get('user')) || !hosts || hosts.includes(',')) refuse(FORMAT);
  expectEffect(given, env);
  if (/\D/.test(given.get('port') ?? '')) refuse('port must be a whole number');
  setMode(given, env);
  // `pg` parses no connection string without a host.
  const authority = `${user ? `${user}@` : ''}${host || 'localhost'}`;
  const connectionString = `${scheme}${authority}${database}?${given}`;
  try {
    new Client({ connectionString });
  } catch (error) {
    refuse(error instanceof Error ? error.message : 'it cannot be parsed');
  }
  return connectionString;
}

function refuse(why: string): never {
  throw new InvalidPostgresqlUriError(why);
}

function expectEffect(given: URLSearchParams, env: NodeJS.ProcessEnv): void {
  const names = [...given.keys()];
  const unknown = names.filter((it) => !PARAMETERS.has(it));
  if (unknown.length > 0) refuse(`remove the unsupported ${unknown.join(', ')}`);
  // libpq uses the last of two values, other drivers the first.
  const repeated = names.find((it, at) => names.indexOf(it) < at);
  if (repeated) refuse(`${repeated} must not appear twice`);
  const variable = Object.keys(env).find((it) => IGNORED_SECURITY.test(`${it}=${env[it]}`));
  if (variable) refuse(`unset the unsupported ${variable}: sslmode=verify-full requires TLS`);
}

/** Reduces the TLS parameters, or `PGSSLMODE`, to one `sslmode` that `pg` implements. */
function setMode(given: URLSearchParams, env: NodeJS.ProcessEnv): void {
  const [asking] = OF_TLS.filter((it) => given.has(it));
  const asked = given.get('sslmode') ?? (asking ? 'verify-full' : (env.PGSSLMODE ?? 'disable'));
  const mode = VERIFIES.test(asked) ? 'verify-full' : asked;
  if (!['verify-full', 'no-verify', 'disable'].includes(mode)) {
    refuse('sslmode (or PGSSLMODE) must be verify-full, no-verify or disable');
  }
  if (!['true', '1', null].includes(given.get('ssl'))) refuse('ssl must be true');
  if (asking && mode === 'disable') refuse(`${asking} needs sslmode=verify-full`);
  if (given.has('sslrootcert') && mode === 'no-verify') {
    refuse('sslrootcert has no effect with no-verify. Use sslmode=verify-full');
  }
  given.delete('ssl');
  // The CAs that Node.js trusts.
  if (given.get('sslrootcert') === 'system') given.delete('sslrootcert');
  given.set('sslmode', mode);
}
