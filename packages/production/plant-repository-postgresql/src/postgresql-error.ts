import type { DatabaseFinding } from '@plant-store/plant-repository-group-commit';
import { DatabaseError } from 'pg';

/** What an error means, and what this package does about it. */
interface Meaning {
  readonly finding: DatabaseFinding | 'plant refused';
  /** What operators read instead of the server's own text. */
  readonly sentence?: string;
  /** The same for a statement that carries plants, which the server's own text may quote. */
  readonly sentenceWithPlants?: string;
  /** Whether one plant of an insert of several may be the reason. */
  readonly mayBeOnePlant?: true;
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
const MEANINGS: readonly (readonly [pattern: RegExp, Meaning])[] = [
  [/^54000 GetNew(?:TransactionId|MultiXactId)/, { finding: 'unusable', sentence: 'the server assigns no more transaction ids: vacuum its databases' }],
  // An administrator's constraints, triggers and row-level security; limits of size. PL/pgSQL's RAISE may name any code, but an error of the classes left out passes.
  [/^(?:2[01237]|2F|3[89]|44|54|P0|42501 ExecWithCheckOptions|(?!40|53|55|57)\w+ exec_stmt_raise)/, { finding: 'plant refused', mayBeOnePlant: true }],
  // An administrator's trigger that fails, perhaps for one plant: for example, its own table, column or permission is missing.
  [/^(?:0A|3D|3F|42|55000).* \(trigger\)$/, { finding: 'unusable', mayBeOnePlant: true, sentenceWithPlants: 'a trigger of the table plants fails' }],
  [/^42501/, { finding: 'unusable', sentenceWithPlants: 'a permission is missing: plant-store check names it' }],
  // A lock timeout.
  [/^55P03/, { finding: 'not now', mayBeOnePlant: true }],
  // User, password, host.
  [/^28/, { finding: 'credentials refused' }],
  // A standby, or a server that an administrator made read-only.
  [/^25006/, { finding: 'not now', sentence: 'the server is read-only', reconnects: true }],
  [/^(?:26000|42P05)/, { finding: 'not now', isUnprepared: true }],
  // Startup, shutdown; the timeout of idle sessions; a missing table, which the next check finds, or a changed search path.
  [/^(?:57P03|57P05|42P01)/, { finding: 'not now', reconnects: true }],
  [/^53100/, { finding: 'not now', sentence: 'the disk of the database is full' }],
  // A deadlock; no free connection; memory; an object in use; the statement timeout; a missing column, which the next check finds.
  [/^(?:40(?!003)|53|55(?!000)|57014|42703)/, { finding: 'not now' }],
  // PgBouncer, for a statement that it has not sent on. When it loses a server that carries one out, only the text differs.
  [/^08P01 (?:query_wait_timeout$|server login has been failing)/, { finding: 'not now', sentence: 'PgBouncer has no connection to the server', reconnects: true }],
  // Database, schema, columns, settings.
  [/^(?:0A|3D|3F|42|55000)/, { finding: 'unusable' }],
];

/** Anything else: the server stops or crashes, a pooler has lost it, or this package does not know the error. */
export const UNKNOWN: Meaning = { finding: 'unknown', reconnects: true };

const WITH_PLANTS =
  'the database reported an error, whose text may contain a plant: see the log of the database';

/** An error of the database, without any value of a plant. */
export class PostgresqlStoreError extends Error {
  override readonly name = 'PostgresqlStoreError';
  readonly meaning: Meaning;
  /** The SQLSTATE, if the server has reported the error. */
  readonly code: string;

  constructor(message: string, meaning: Meaning, code = '') {
    super(message);
    this.meaning = meaning;
    this.code = code;
  }
}

/** Returns what an error means, if it is the database's. */
export const meaningOf = (error: unknown): Partial<Meaning> =>
  error instanceof PostgresqlStoreError ? error.meaning : {};

/** The codes of Node.js for a certificate of an unknown CA. */
const UNTRUSTED = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)_/;

/** Explains why a connection was refused. */
export function whyNotConnected(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code = '', message }: NodeJS.ErrnoException = error;
  // `pg` itself rejects the login.
  if (message.startsWith('SASL: ')) {
    const why = message.replace(
      /.*client password must.*/,
      'the connection string contains no password',
    );
    return new PostgresqlStoreError(why, { finding: 'credentials refused' });
  }
  if (!UNTRUSTED.test(code)) return explained(error, false);
  const untrusted = 'the server certificate is not trusted: set sslrootcert to the CA certificate';
  return new Error(untrusted, { cause: error });
}

/** Explains an error of the database. If the statement carried plants, the server's own text may quote them. */
export function explained(error: unknown, hadPlants: boolean): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { code = 'no code', routine, where, message } = error;
  const source = `${code} ${routine || message}${where === undefined ? '' : ' (trigger)'}`;
  const meaning = MEANINGS.find(([pattern]) => pattern.test(source))?.[1] ?? UNKNOWN;
  const { sentence, sentenceWithPlants = WITH_PLANTS } = meaning;
  const why = sentence ?? (hadPlants ? sentenceWithPlants : message);
  return new PostgresqlStoreError(`${why} (${code})`, meaning, code);
}
