import { Client } from 'pg';

/** What a valid connection string asks for. */
export interface ParsedUri {
  /** The connection string, with the parameters that `pg` understands in the way that libpq does. */
  readonly connectionString: string;
  /** An option of `pg`. Its types are not a dependency, so a file that is public does not use them. */
  readonly enableChannelBinding?: boolean;
  /** A sentence for each parameter that has no effect. */
  readonly withoutEffect: readonly string[];
}

/** Why a connection string is refused. The message contains no password. */
class InvalidUriError extends Error {}

/**
 * A user is required: otherwise `user:1234` would parse as host and port, and the password would be printed as a port.
 * The host may be a parameter instead, as the directory of a Unix socket is. A fragment would hide parameters.
 */
const URI = /^(postgres(?:ql)?:\/\/)(?:([^/?#@]+)@)?([^/?#@,]*)(\/[^/?#]+)(?:\?([^#]*))?$/;

const FORM =
  'it must contain a user, exactly one host and a database; percent-encode special characters';

/** Parameters that `pg` passes on or carries out as libpq does. Its other parameters break this package. */
const WITH_EFFECT: ReadonlySet<string> = new Set(
  `user password host port options application_name fallback_application_name
  statement_timeout lock_timeout idle_in_transaction_session_timeout
  ssl sslmode sslrootcert sslcert sslkey sslnegotiation requiressl uselibpqcompat channel_binding`.split(
    /\s+/,
  ),
);

/** Values that ask for what always holds, so that nothing is reported. Node.js offers TLS 1.2 or later. */
const HOLDS: ReadonlySet<string> = new Set(
  `gssencmode=disable gssencmode=prefer sslcompression=0 sslsni=1 sslcertmode=allow ssl_min_protocol_version=TLSv1
  ssl_min_protocol_version=TLSv1.1 ssl_min_protocol_version=TLSv1.2 replication=false client_encoding=UTF8
  target_session_attrs=any load_balance_hosts=disable`.split(/\s+/),
);

/** Names of parameters of libpq, JDBC and other drivers that ask for security: for TLS, or for proof of who responds. */
const SECURITY = /(?<!g)ssl|tls|cert|crl|require|auth|channel.?binding|gssenc|encrypt|verify/i;

const FIXES: Readonly<Record<string, string>> = {
  schema: 'Use options=-csearch_path%3D… instead',
  currentSchema: 'Use options=-csearch_path%3D… instead',
  dbname: 'The path names the database',
  passfile: 'Use the variable PGPASSFILE instead',
};

/** The modes of `sslmode`, by what this package does. libpq modes that verify less verify here as well. */
const MODES: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  sslmode: {
    disable: 'disable',
    allow: 'verify-full',
    prefer: 'verify-full',
    require: 'verify-full',
    'verify-ca': 'verify-full',
    'verify-full': 'verify-full',
    'no-verify': 'no-verify',
  },
  ssl: {
    true: 'verify-full',
    1: 'verify-full',
    false: 'disable',
    0: 'disable',
    'no-verify': 'no-verify',
  },
  requiressl: { 1: 'verify-full', 0: undefined },
};

/** Returns why a connection string is invalid, without revealing its password, or `undefined` if it is valid. */
export function postgresqlUriProblem(uri: string): string | undefined {
  try {
    readUri(uri);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be parsed';
  }
}

/** @throws {Error} when it is invalid: see {@link postgresqlUriProblem}. */
export function readUri(uri: string): ParsedUri {
  const [, scheme, user, host, database, query] = URI.exec(uri) ?? [];
  const given = parametersOf(query);
  const hosts = given.get('host') ?? host;
  if (!scheme || !(user || given.get('user')) || !hosts || hosts.includes(',')) {
    throw new InvalidUriError(FORM);
  }
  if (/\D/.test(given.get('port') ?? '')) throw new InvalidUriError('port must be a whole number');
  const [names, withoutEffect] = [[...given.keys()], [] as string[]];
  for (const name of names.filter((it) => !WITH_EFFECT.has(it))) {
    if (!HOLDS.has(`${name}=${given.get(name)}`)) withoutEffect.push(withoutEffectSentence(name));
    given.delete(name);
  }
  const isBound = takeChannelBinding(given);
  setMode(given, isBound);
  // `pg` parses no connection string without a host.
  const authority = `${user ? `${user}@` : ''}${host || 'localhost'}`;
  const connectionString = `${scheme}${authority}${database}?${new URLSearchParams([...given])}`;
  new Client({ connectionString });
  return { connectionString, enableChannelBinding: isBound, withoutEffect };
}

/** libpq uses the last of two values, other drivers the first. */
function parametersOf(query: string | undefined): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (given.has(name)) throw new InvalidUriError(`${name} must not appear twice`);
    given.set(name, value);
  }
  return given;
}

/** @throws {InvalidUriError} for a parameter that asks for security. */
function withoutEffectSentence(name: string): string {
  if (SECURITY.test(name)) {
    const fix = WITH_EFFECT.has(name.toLowerCase())
      ? `Write ${name.toLowerCase()}`
      : 'Remove it, and use sslmode=verify-full';
    throw new InvalidUriError(`${name} asks for security, but has no effect here. ${fix}`);
  }
  return `the parameter ${name} of the connection string has no effect. ${Object.hasOwn(FIXES, name) ? FIXES[name] : 'Remove it'}`;
}

/** Returns whether the login must be bound to the TLS connection. `pg` has an option for it, and no parameter. */
function takeChannelBinding(given: Map<string, string>): boolean {
  const value = given.get('channel_binding') ?? 'disable';
  given.delete('channel_binding');
  if (!['disable', 'prefer', 'require'].includes(value)) {
    throw new InvalidUriError('channel_binding must be disable, prefer or require');
  }
  return value === 'require';
}

/** Replaces the parameters for TLS by one `sslmode` that `pg` carries out. */
function setMode(given: Map<string, string>, isBound: boolean): void {
  const isLibpq = given.get('uselibpqcompat') === 'true';
  const modes = new Set<string>();
  for (const [name, values] of Object.entries(MODES)) {
    const value = given.get(name);
    if (value === undefined) continue;
    if (!Object.hasOwn(values, value)) {
      throw new InvalidUriError(`${name} must be one of ${Object.keys(values).join(', ')}`);
    }
    const mode = values[value];
    if (mode) modes.add(mode);
  }
  const files = ['sslrootcert', 'sslcert', 'sslkey'].filter((name) => given.has(name));
  const needsTls = [...files, ...(isBound ? ['channel_binding=require'] : [])];
  if (files.length > 0 && modes.size === 0) modes.add('verify-full');
  if (given.get('sslnegotiation') === 'direct' && modes.size === 0) modes.add('verify-full');
  const [mode = 'disable', other] = modes;
  if (other) throw new InvalidUriError(`TLS cannot be both ${mode} and ${other}`);
  const [needy] = needsTls;
  if (needy && mode === 'disable') throw new InvalidUriError(`${needy} needs sslmode=verify-full`);
  if (given.has('sslrootcert') && mode === 'no-verify') {
    throw new InvalidUriError('sslrootcert has no effect with no-verify. Use sslmode=verify-full');
  }
  // The authorities that Node.js trusts.
  const isSystem = given.get('sslrootcert') === 'system' && given.delete('sslrootcert');
  if (!isLibpq || isSystem) given.delete('uselibpqcompat');
  const keepsMode = given.has('uselibpqcompat') && given.has('sslmode');
  if (modes.size > 0 && !keepsMode) given.set('sslmode', mode);
  for (const name of ['ssl', 'requiressl']) given.delete(name);
}
