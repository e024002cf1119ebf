import type { Outcome, ServerError } from '@plant-store/plant-repository-sql';
import { DatabaseError } from 'pg';

/** Nothing is stored, because the server would lose what it acknowledges. The message names the setting. */
export class NotDurableError extends Error {
  override readonly name = 'NotDurableError';
}

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

const READ_ONLY = '25006';

/** Returns what an error of PostgreSQL means; `undefined` when it is from the network or the driver. */
export function serverError(error: unknown): ServerError | undefined {
  if (error instanceof NotDurableError) {
    return { code: error.name, outcome: 'access denied', reason: error.message };
  }
  if (!(error instanceof DatabaseError)) return undefined;
  const { code = 'an error without a code', constraint = '' } = error;
  const known = OUTCOMES.find(([pattern]) => pattern.test(`${code} ${constraint}`));
  // After a failover, the name of the host may lead to the new primary.
  return { code, outcome: known?.[1] ?? 'unclear', reconnect: code === READ_ONLY };
}
