import { DatabaseError } from 'pg';

/** What became of one attempt to insert a plant. */
export type Outcome =
  | 'stored'
  /** A plant has the id. It may be that of an earlier attempt. */
  | 'id exists'
  /** Another plant has the id. */
  | 'taken'
  /** Nothing was stored. The next attempt may store it. */
  | 'not stored'
  /** Nothing was stored, and nothing will be until an administrator has changed something. */
  | 'access denied'
  /** Nothing was stored: the table does not accept this plant. */
  | 'refused'
  /** It was sent. It may be stored now, or later. */
  | 'unclear';

/** By the SQLSTATE of an error and the constraint that it names. The first that matches counts. */
const OUTCOMES: readonly (readonly [pattern: RegExp, outcome: Outcome])[] = [
  // The primary key.
  [/^23505 plants_pkey$/, 'id exists'],
  // Password, database, schema; table, columns, permissions.
  [/^(?:28|3D|3F|42)/, 'access denied'],
  // Constraints and triggers of an administrator, limits of size.
  [/^(?:22|23|44|54|P0)/, 'refused'],
  // Read-only standby, deadlock, too many connections, disk full, locks, statement timeout, startup.
  [/^(?:25006|40(?!003)|53|55|57014|57P03)/, 'not stored'],
];

/**
 * Returns what became of an attempt that ended with an error.
 *
 * @param sent Whether the server may have received the insert.
 */
export function outcomeOf(error: unknown, sent: boolean): Outcome {
  const state = error instanceof DatabaseError ? `${error.code} ${error.constraint ?? ''}` : '';
  const known = OUTCOMES.find(([pattern]) => pattern.test(state));
  return known?.[1] ?? (sent ? 'unclear' : 'not stored');
}
