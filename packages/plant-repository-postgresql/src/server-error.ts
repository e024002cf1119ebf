import type { Finding } from '@plant-store/plant-repository-group-commit';
import { DatabaseError } from 'pg';
import { COMMANDS } from './table.js';

/** For the SQLSTATE and the server's function that reports it, with `(trigger)` inside one. The first match counts. */
const PATTERNS: readonly (readonly [RegExp, Finding])[] = [
  // Constraints, triggers and row-level security of an administrator, limits of size.
  [/^(?:22|23|44|54|P0|42501 ExecWithCheckOptions)/, 'plant refused'],
  // User, password, host.
  [/^28/, 'credentials refused'],
  // A standby or a read-only server; a deadlock; prepared statements that a connection pooler does not have.
  [/^(?:25006|40(?!003)|26000|42P05)/, 'not now'],
  // A column that the next check misses, unless a trigger misses it.
  [/^42703 \w*$/, 'not now'],
  // No free connection, or a full disk; a lock; the statement timeout; startup; the timeout of idle sessions.
  [/^(?:53|55(?!000)|57014|57P03|57P05)/, 'not now'],
  // Database, schema, table, columns, permissions.
  [/^(?:0A|3D|3F|42|55000)/, 'unusable'],
];

/**
 * What PgBouncer reports, as a protocol violation, while it holds a statement that waits for a connection to the
 * server. With the same SQLSTATE, it reports that it has lost the connection that carries out the statement.
 */
const NOT_FORWARDED = /^08P01 (?:query_wait_timeout$|server login has been failing)/;

/** A trigger of one plant may report it too. */
export const NO_PERMISSION = '42501';

/** After one of these, another connection may reach another server, or the server ends this one. */
const CLOSES = /^(?:08|25006|57P|XX)/;

const REASONS: Readonly<Record<string, string>> = {
  '25006': 'the server is read-only',
  '42501': 'a permission is missing: plant-store check names it',
  '42P01': 'the table plants does not exist. Create it and grant permissions on it',
  '42P10': 'the column id of the table plants is not unique. Make it the primary key',
  '53100': 'the disk of the database is full',
};

/** An error of the storage, without any value of a plant: the server's own message may quote one. */
export class PostgresqlError extends Error {
  override readonly name = 'PostgresqlError';
  readonly finding: Finding;
  /** The SQLSTATE, if the server has reported the error. */
  readonly code: string;

  constructor(message: string, finding: Finding, code = '') {
    super(message);
    this.finding = finding;
    this.code = code;
  }

  /** The statements that an administrator can correct it with. */
  get command(): string | undefined {
    return COMMANDS.find(([pattern]) => pattern.test(this.message))?.[1];
  }
}

/** Whether a connection is of no more use after an error. The pool notices by itself when it is lost. */
export function endsConnection(error: unknown): boolean {
  const isKnown = error instanceof DatabaseError || error instanceof PostgresqlError;
  return isKnown && CLOSES.test(`${error.code}`);
}

/** The code of Node.js for a certificate of an unknown authority. */
const UNTRUSTED = /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_)/;

/** `pg` rejects a login itself. */
const REJECTED = /^SASL: (?:SCRAM-SERVER-FIRST-MESSAGE: )?(client password must )?/;

/** Explains why a connection was refused. No plant has been sent yet, so the server's own message is safe to keep. */
export function whyNotConnected(error: unknown): unknown {
  if (error instanceof DatabaseError) return storageError(error, error.message);
  if (!(error instanceof Error)) return error;
  const [rejected, noPassword] = REJECTED.exec(error.message) ?? [];
  if (noPassword)
    return new PostgresqlError('the connection string contains no password', 'credentials refused');
  if (rejected)
    return new PostgresqlError(error.message.slice(rejected.length), 'credentials refused');
  if (!UNTRUSTED.test(`${(error as NodeJS.ErrnoException).code}`)) return error;
  return new Error('the server certificate is not trusted: set sslrootcert to the CA certificate', {
    cause: error,
  });
}

/** Explains an error of a statement that carries no plant: the server's own message is safe to keep. */
export function withServerText(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const isExplained = error.code !== NO_PERMISSION && `${error.code}` in REASONS;
  return storageError(error, isExplained ? undefined : error.message);
}

/** Returns an error without the message of the server. */
export function withoutPlant(error: unknown): unknown {
  return error instanceof DatabaseError ? storageError(error) : error;
}

function storageError({ code = '', routine, where, message }: DatabaseError, reason?: string) {
  if (NOT_FORWARDED.test(`${code} ${message}`)) {
    return new PostgresqlError('PgBouncer has no connection to the server', 'not now', code);
  }
  const source = where === undefined ? routine : `${routine} (trigger)`;
  const finding = PATTERNS.find(([pattern]) => pattern.test(`${code} ${source}`))?.[1] ?? 'unknown';
  const text = reason ?? REASONS[code] ?? 'the database reported an error';
  return new PostgresqlError(`${text} (${code || 'no code'})`, finding, code);
}
