import type { Finding } from '@plant-store/plant-repository-group-commit';
import { DatabaseError } from 'pg';

/** What an error of a server means. */
interface Row {
  readonly finding: Exclude<Finding, 'id exists'>;
  /** If one plant may be why an insert fails, as with `plant refused`: the finding when it is inserted alone. */
  readonly alone?: 'id may exist' | 'unusable';
  /** What operators read. The server's own text is for errors of statements without plants only: it may quote one. */
  readonly sentence?: string;
  /** Whether another connection may reach another server, or the server ends this one. */
  readonly reconnects?: true;
  /** Whether a connection pooler does not keep prepared statements: the name is unknown, or belongs to another client. */
  readonly isUnprepared?: true;
}

/**
 * Each pattern matches the SQLSTATE, and the server's function that reports it, with `(trigger)` inside one; a connection
 * pooler has a text instead of a function. The first match counts.
 */
// biome-ignore format: a table
const ROWS: readonly (readonly [says: RegExp, Row])[] = [
  // Constraints, triggers and row-level security of an administrator, limits of size.
  [/^(?:22|23|44|54|P0|42501 ExecWithCheckOptions)/, { finding: 'plant refused' }],
  // A permission, which may be missing in a trigger of one plant.
  [/^42501/, { finding: 'unusable', alone: 'unusable', sentence: 'a permission is missing: plant-store check names it' }],
  // A lock timeout: another session may hold a row with the same id.
  [/^55P03/, { finding: 'not now', alone: 'id may exist' }],
  // User, password, host.
  [/^28/, { finding: 'credentials refused' }],
  // A standby, or a server that an administrator made read-only.
  [/^25006/, { finding: 'not now', sentence: 'the server is read-only', reconnects: true }],
  // A deadlock; the statement timeout; a column that the next check misses, unless a trigger misses it.
  [/^(?:40(?!003)|57014|42703 \w*$)/, { finding: 'not now' }],
  [/^(?:26000|42P05)/, { finding: 'not now', isUnprepared: true }],
  // Startup, shutdown, the timeout of idle sessions.
  [/^(?:57P03|57P05)/, { finding: 'not now', reconnects: true }],
  [/^53100/, { finding: 'not now', sentence: 'the disk of the database is full' }],
  // No free connection; memory; an object in use.
  [/^(?:53|55(?!000))/, { finding: 'not now' }],
  // PgBouncer while it holds a statement. If it has lost the server that carries one out, the code is the same.
  [/^08P01 (?:query_wait_timeout$|server login has been failing)/, { finding: 'not now', sentence: 'PgBouncer has no connection to the server', reconnects: true }],
  [/^42P01/, { finding: 'unusable', sentence: 'the table plants does not exist. Create it and grant permissions on it' }],
  [/^42P10/, { finding: 'unusable', sentence: 'the column id of the table plants is not unique. Make it the primary key' }],
  // Database, schema, columns, settings.
  [/^(?:0A|3D|3F|42|55000)/, { finding: 'unusable' }],
];

/** Anything else: the connection was lost, the server crashed, or an error that this package does not know. */
const UNKNOWN: Row = { finding: 'unknown', reconnects: true };

/** An error of the storage, without any value of a plant. */
export class PostgresqlError extends Error {
  override readonly name = 'PostgresqlError';
  readonly row: Row;
  /** The SQLSTATE, if the server has reported the error. */
  readonly code: string;

  constructor(message: string, row: Row, code = '') {
    super(message);
    this.row = row;
    this.code = code;
  }

  get finding() {
    return this.row.finding;
  }
}

/** The code of Node.js for a certificate of an unknown authority. */
const UNTRUSTED = /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_)/;

/** `pg` rejects a login itself. */
const REJECTED = /^SASL: (?:SCRAM-SERVER-FIRST-MESSAGE: )?(client password must )?/;

/** Explains why a connection was refused. */
export function whyNotConnected(error: unknown): unknown {
  if (error instanceof DatabaseError) return withServerText(error);
  if (!(error instanceof Error)) return error;
  const [rejected, noPassword] = REJECTED.exec(error.message) ?? [];
  if (rejected) {
    const own = error.message.slice(rejected.length);
    const message = noPassword ? 'the connection string contains no password' : own;
    return new PostgresqlError(message, { finding: 'credentials refused' });
  }
  if (!UNTRUSTED.test(`${(error as NodeJS.ErrnoException).code}`)) return error;
  return new Error('the server certificate is not trusted: set sslrootcert to the CA certificate', {
    cause: error,
  });
}

/** Explains an error of a statement that carries no plant. */
export function withServerText(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { alone, sentence } = rowOf(error);
  return explained(error, (!alone && sentence) || error.message);
}

/** Explains an error of a statement that may carry plants. */
export function withoutPlant(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  return explained(error, rowOf(error).sentence ?? 'the database reported an error');
}

function explained(error: DatabaseError, text: string): PostgresqlError {
  const { code = '' } = error;
  return new PostgresqlError(`${text} (${code || 'no code'})`, rowOf(error), code);
}

function rowOf({ code, routine, where, message }: DatabaseError): Row {
  const source = `${routine || message}${where === undefined ? '' : ' (trigger)'}`;
  return ROWS.find(([says]) => says.test(`${code} ${source}`))?.[1] ?? UNKNOWN;
}
