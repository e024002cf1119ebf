import { createHash } from 'node:crypto';
import type { PlantRow } from './plant-row.js';
import { ALL_COLUMNS, COLUMNS, type OptionalColumn } from './table.js';

/**
 * For this transaction, so that a connection pooler can lend the connection to others: no default of the server, the
 * database or the role makes it less durable, or hides the warnings of a commit.
 */
const SET_DURABLE = `set_config('synchronous_commit', 'on', true) = 'on'
  AND set_config('client_min_messages', 'warning', true) = 'warning'`;

/** Whether a commit survives a crash of the machine. A server without the setting is trusted. */
const IS_KEPT = `coalesce(current_setting('fsync', true), 'on') <> 'off'
  AND (SELECT relpersistence = 'p' FROM pg_class WHERE oid = 'plants'::regclass)`;

/**
 * Another session may have committed a plant without waiting for the disk or the standbys. A message in the log after
 * that commit makes the synchronous commit of this transaction include it. A standby shows only what it has flushed.
 */
const FLUSH = `(SELECT CASE WHEN NOT pg_is_in_recovery()
  THEN pg_logical_emit_message(true, 'plant-store', '') END) AS flushed`;

/** Whether a standby replies, which may lag behind the primary. */
const IN_RECOVERY = 'pg_is_in_recovery() AS in_recovery';

/** A row of {@link LOOK_UP} or of a page: the first has the settings even if there is no plant. */
export type WithSettings<Row extends Pick<PlantRow, 'id'>> = Omit<Row, 'id'> & {
  readonly id: string | null;
  readonly in_recovery: boolean;
};

export const hasPlant = <Row extends { id: string | null }>(
  row: Row,
): row is Row & { id: string } => row.id !== null;

/** Reads marks by ids. */
export const LOOK_UP = `SELECT id, mark, is_kept, may_hide, in_recovery, ${FLUSH}
  FROM (SELECT ${SET_DURABLE} AS durable, ${IS_KEPT} AS is_kept, ${IN_RECOVERY},
    row_security_active('plants') AS may_hide) AS settings
  LEFT JOIN plants ON id = ANY ($1::bigint[])`;

/**
 * Returns an insert, whose last parameter is how long it waits for a lock. The command tag counts the inserted plants, so
 * neither the server nor the driver handles rows of a reply. The server plans the prepared statement once. Its name is a
 * digest of the text, because a connection pooler lends sessions together with the statements of others.
 */
function insertOf(columns: readonly string[], values: readonly string[]) {
  const lockTimeout = `$${columns.length + 1}`;
  const text = `INSERT INTO plants (${columns}) SELECT ${values}
    WHERE ${SET_DURABLE} AND ${IS_KEPT} AND set_config('lock_timeout', ${lockTimeout}, true) <> ''
    ON CONFLICT (id) DO NOTHING`;
  return {
    text,
    name: `insert plants ${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
  };
}

/** Returns the statements for a table without these columns. */
export function statementsFor(absent: readonly OptionalColumn[]) {
  const columns = ALL_COLUMNS.filter((it) => !absent.some((column) => column === it));
  const texts = columns.filter((it) => COLUMNS[it] === 'text');
  // A page ends with the plant that reaches 4 MiB. `octet_length` does not read the value of a large column.
  const bytes = texts.map((it) => `coalesce(octet_length(${it}), 0)`).join(' + ');
  const shown = [...columns, ...absent.map((it) => `NULL AS ${it}`)];
  return {
    absent,
    columns,
    /** Without arrays, which take the server longer: a lone client would wait for them. */
    insertOne: insertOf(
      columns,
      columns.map((it, at) => `$${at + 1}::${COLUMNS[it]}`),
    ),
    insertMany: insertOf(
      columns,
      columns.map((it, at) => `unnest($${at + 1}::${COLUMNS[it]}[])`),
    ),
    page: `SELECT page.*, in_recovery, ${FLUSH} FROM (SELECT ${SET_DURABLE} AS durable, ${IN_RECOVERY}) AS settings LEFT JOIN (
        SELECT ${shown}, sum(${bytes})
          OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
        FROM plants WHERE $1::bigint IS NULL OR id > $1::bigint ORDER BY id LIMIT $2
      ) AS page ON true
      WHERE coalesce(bytes_before, 0) < ${4 * 1024 ** 2} ORDER BY id`,
    /** Fails if an insert would, or if a rule would discard it (`RETURNING`). Waits for locks and standbys, as an insert does. */
    insertNothing: `SELECT ${SET_DURABLE};
      INSERT INTO plants (${columns}) SELECT ${columns} FROM plants WHERE false
        ON CONFLICT (id) DO NOTHING RETURNING mark;
      SELECT CASE WHEN current_setting('synchronous_standby_names', true) <> ''
        THEN pg_logical_emit_message(true, 'plant-store', '') END`,
  };
}
