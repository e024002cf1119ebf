import type { DatabaseFinding } from '@plant-store/plant-repository-group-commit';
import { DatabaseError } from 'pg';

interface Translation extends Facts {
  readonly finding: DatabaseFinding | 'plant refused';
  /** What operators read instead of the server's own text. */
  readonly sentence?: string;
  /** The same for a statement that carries plants, which the server's own text may quote. */
  readonly sentenceWithPlants?: string;
}

/** What this package does about an error. */
interface Facts {
  /** Whether one plant of an insert of several may be the reason. */
  readonly mayBeOnePlant?: true;
  /** The statements with which an administrator can correct it. */
  readonly command?: string | undefined;
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
const TRANSLATIONS: readonly (readonly [pattern: RegExp, Translation])[] = [
  [/^54000 GetNew(?:TransactionId|MultiXactId)/, { finding: 'unusable', sentence: 'the server assigns no more transaction ids: vacuum its databases' }],
  // An administrator's constraints, triggers and row-level security; limits of size.
  [/^(?:2[01237]|2F|3[89]|44|54|P0|42501 ExecWithCheckOptions)/, { finding: 'plant refused', mayBeOnePlant: true }],
  // PL/pgSQL's RAISE may name any code. An error of the classes left out passes.
  [/^(?!40|53|55|57)\w+ exec_stmt_raise/, { finding: 'plant refused', mayBeOnePlant: true }],
  // An administrator's trigger that fails, perhaps for one plant: for example, its own table, column or permission is missing.
  [/^(?:0A|3D|3F|42|55000).* \(trigger\)$/, { finding: 'unusable', mayBeOnePlant: true, sentenceWithPlants: 'a trigger of the table plants fails' }],
  [/^42501/, { finding: 'unusable', sentenceWithPlants: 'a permission is missing: plant-store check names it' }],
  // A lock timeout.
  [/^55P03/, { finding: 'not now', mayBeOnePlant: true }],
  // User, password, host.
  [/^28/, { finding: 'credentials refused' }],
  // A standby, or a server that an administrator made read-only.
  [/^25006/, { finding: 'not now', sentence: 'the server is read-only', reconnects: true }],
  // A deadlock; the statement timeout; a missing column, which the next check finds.
  [/^(?:40(?!003)|57014|42703)/, { finding: 'not now' }],
  // A missing table, which the next check finds; or the search path was changed, which only a new connection follows.
  [/^42P01/, { finding: 'not now', reconnects: true }],
  [/^(?:26000|42P05)/, { finding: 'not now', isUnprepared: true }],
  // Startup, shutdown, the timeout of idle sessions.
  [/^(?:57P03|57P05)/, { finding: 'not now', reconnects: true }],
  [/^53100/, { finding: 'not now', sentence: 'the disk of the database is full' }],
  // No free connection; memory; an object in use.
  [/^(?:53|55(?!000))/, { finding: 'not now' }],
  // PgBouncer, for a statement that it has not sent on. When it loses a server that carries one out, only the text differs.
  [/^08P01 (?:query_wait_timeout$|server login has been failing)/, { finding: 'not now', sentence: 'PgBouncer has no connection to the server', reconnects: true }],
  [/^42P10/, { finding: 'unusable', sentence: 'the column id of the table plants is not unique' }],
  // Database, schema, columns, settings.
  [/^(?:0A|3D|3F|42|55000)/, { finding: 'unusable' }],
];

/** Anything else: the server stops or crashes, a pooler has lost it, or this package does not know the error. */
const UNKNOWN: Translation = { finding: 'unknown', reconnects: true };

const WITH_PLANTS =
  'the database reported an error, whose text may contain a plant: see the log of the database';

/** An error of the database, without any value of a plant. */
export class PostgresqlStoreError extends Error {
  override readonly name = 'PostgresqlStoreError';
  readonly finding: Translation['finding'];
  readonly facts: Facts;
  /** The SQLSTATE, if the server has reported the error. */
  readonly code: string;

  constructor(finding: Translation['finding'], message: string, facts: Facts = {}, code = '') {
    super(message);
    this.finding = finding;
    this.facts = facts;
    this.code = code;
  }
}

/** Returns what this package does about an error: nothing, unless it is the database's. */
export const factsOf = (error: unknown): Facts =>
  error instanceof PostgresqlStoreError ? error.facts : {};

/** The code of Node.js for a certificate of an unknown CA. */
const UNTRUSTED = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)_/;

/** Matches the errors with which `pg` itself rejects a login: they have a text, but no code. */
const REJECTED = /^SASL: (?:SCRAM-SERVER-FIRST-MESSAGE: )?(client password must )?/;

/** Explains why a connection was refused. */
export function whyNotConnected(error: unknown): unknown {
  if (error instanceof DatabaseError) return explained(error, false);
  if (!(error instanceof Error)) return error;
  const [rejected, noPassword] = REJECTED.exec(error.message) ?? [];
  if (rejected) {
    const own = error.message.slice(rejected.length);
    const message = noPassword ? 'the connection string contains no password' : own;
    return new PostgresqlStoreError('credentials refused', message);
  }
  if (!UNTRUSTED.test(`${(error as NodeJS.ErrnoException).code}`)) return error;
  return new Error('the server certificate is not trusted: set sslrootcert to the CA certificate', {
    cause: error,
  });
}

/** Explains an error of the database. If the statement carried plants, the server's own text may quote them. */
export function explained(error: unknown, hadPlants: boolean): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { code = '' } = error;
  const { finding, sentence, sentenceWithPlants, ...facts } = translationOf(error);
  const other = hadPlants ? (sentenceWithPlants ?? WITH_PLANTS) : error.message;
  return new PostgresqlStoreError(
    finding,
    `${sentence ?? other} (${code || 'no code'})`,
    facts,
    code,
  );
}

function translationOf({ code, routine, where, message }: DatabaseError): Translation {
  const source = `${routine || message}${where === undefined ? '' : ' (trigger)'}`;
  return TRANSLATIONS.find(([pattern]) => pattern.test(`${code} ${source}`))?.[1] ?? UNKNOWN;
}
