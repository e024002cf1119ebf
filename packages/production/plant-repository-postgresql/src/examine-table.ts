import type { Warnings } from '@plant-store/plant-repository-group-commit';
import type { ClientBase } from 'pg';
import { PostgresqlStoreError } from './postgresql-error.js';
import { COLUMNS, CREATE_TABLE } from './table.js';

const listed = (texts: readonly string[]) => texts.map((it) => `'${it}'`).join(', ');

const EXPECTED = Object.entries(COLUMNS).map((column) => `(${listed(column)})`);

/** Run after {@link CREATE_TABLE}. `$USER` is the role of the service. */
const GRANT = 'GRANT SELECT, INSERT ON plants TO $USER;';

/** The table that the role finds. */
const PLANTS = `pg_class AS plants WHERE plants.oid = to_regclass('plants')`;

/**
 * Tables that may be the one the role does not find, such as a renamed one: a second, empty one would accept ids that it
 * has. Tables of other programs have no mark.
 */
const ELSEWHERE = `(SELECT nspname, relname, count(*) OVER () = 1 AS is_only FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE attname = 'mark' AND atttypid = 'uuid'::regtype AND NOT attisdropped AND relkind IN ('r', 'p') AND relpersistence <> 't'
  ) AS other WHERE to_regclass('plants') IS NULL`;

/**
 * Why a table cannot keep plants. Each query has a row if it cannot: the reason, and the statements that correct it if they
 * are right whatever else there is. The first row counts.
 */
const PROBLEMS = [
  `SELECT 'fsync is off, so a crash can lose plants. Turn it on' AS why WHERE current_setting('fsync', true) = 'off'`,

  `SELECT 'the database encoding is not UTF8. Create a UTF8 database' AS why WHERE current_setting('server_encoding') <> 'UTF8'`,

  `SELECT format('the role lacks USAGE on the schema %I of the table plants. Grant it', nspname) AS why,
      CASE WHEN is_only THEN format('GRANT USAGE ON SCHEMA %I TO $USER;', nspname) END AS command
    FROM ${ELSEWHERE} AND relname = 'plants' AND NOT has_schema_privilege(nspname, 'USAGE') ORDER BY nspname`,

  `SELECT format('the table plants is in the schema %I, which the search_path of the role lacks. Add it', nspname) AS why,
      CASE WHEN is_only THEN format('ALTER ROLE $USER IN DATABASE %I SET search_path = %I, %s;',
        current_database(), nspname, current_setting('search_path')) END AS command
    FROM ${ELSEWHERE} AND relname = 'plants' ORDER BY nspname`,

  `SELECT format('the table plants does not exist, but %I.%I has its columns. If that is the table, rename it back', nspname, relname) AS why
    FROM ${ELSEWHERE} ORDER BY nspname, relname`,

  `SELECT format('the table plants does not exist in the database %I. Create it and grant permissions on it', current_database()) AS why,
      '${CREATE_TABLE};\n${GRANT}' AS command WHERE to_regclass('plants') IS NULL`,

  `SELECT 'plants is not an ordinary table. Replace it with one' AS why FROM ${PLANTS} AND relkind <> 'r'`,

  `SELECT format('%s inherits from the table plants, so an id can exist twice. Separate it (NO INHERIT)', inhrelid::regclass) AS why
    FROM pg_inherits WHERE inhparent = to_regclass('plants')`,

  `SELECT 'the table plants is unlogged. Run ALTER TABLE plants SET LOGGED' AS why, 'ALTER TABLE plants SET LOGGED;' AS command
    FROM ${PLANTS} AND relpersistence <> 'p'`,

  `SELECT 'the role lacks permissions on the table plants. Grant them' AS why, '${GRANT}' AS command
    FROM ${PLANTS} AND NOT (has_any_column_privilege(plants.oid, 'SELECT') AND has_any_column_privilege(plants.oid, 'INSERT'))`,

  `SELECT format('the column %s of the table plants must be %s, but is %s', name, type, coalesce(format_type(atttypid, atttypmod), 'missing')) AS why
    FROM (VALUES ${EXPECTED}) AS expected (name, type)
      LEFT JOIN pg_attribute ON attrelid = to_regclass('plants') AND attname = name AND NOT attisdropped
    WHERE coalesce(format_type(atttypid, atttypmod), '') NOT IN (type, replace(type, 'text', 'character varying'))`,

  // The service writes no further columns, which a trigger (on each row, before an insert) may fill.
  `SELECT format('the column %I of the table plants is NOT NULL. Make it nullable', attname) AS why
    FROM pg_attribute WHERE attrelid = to_regclass('plants') AND attnum > 0 AND NOT attisdropped AND attnotnull
      AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = attrelid AND tgtype & 7 = 7)
      AND (attname = 'tag' OR attname NOT IN (${listed(Object.keys(COLUMNS))}) AND NOT atthasdef AND attidentity = '')`,

  // `ON CONFLICT` works with no other index.
  `SELECT 'the column id of the table plants is not unique, or its index is partial or deferrable. Make it the primary key' AS why,
      CASE WHEN NOT EXISTS (SELECT FROM pg_index WHERE indrelid = plants.oid AND indisunique)
        THEN 'ALTER TABLE plants ADD PRIMARY KEY (id);' END AS command
    FROM ${PLANTS} AND NOT EXISTS (SELECT FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
      WHERE indrelid = plants.oid AND attname = 'id' AND indisunique AND indimmediate AND indisvalid AND indnkeyatts = 1 AND indpred IS NULL)`,

  // Policies that refuse or hide some rows cannot be recognised.
  `SELECT format('row-level security of the table plants has no policy for %s. Create one', name) AS why
    FROM (VALUES ('a', 'INSERT'), ('r', 'SELECT')) AS command (code, name)
    WHERE row_security_active(to_regclass('plants')) AND NOT EXISTS (SELECT FROM pg_policy, unnest(polroles) AS role
      WHERE polrelid = to_regclass('plants') AND polpermissive AND polcmd::text IN ('*', code) AND (role = 0 OR pg_has_role(role, 'USAGE')))`,

  // The default of a `serial` column uses a sequence. Without the permission, each insert fails.
  `SELECT format('the permission USAGE on the sequence %s is missing. Grant it', pg_class.oid::regclass) AS why
    FROM pg_attrdef JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = pg_attrdef.oid
      JOIN pg_class ON refclassid = 'pg_class'::regclass AND pg_class.oid = refobjid
    WHERE adrelid = to_regclass('plants') AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(pg_class.oid, 'USAGE, UPDATE') END`,
];

/** Rejects if the table cannot keep plants, and reports what corrects it. Waits for no lock. The `user` is the service's. */
export async function examineTable(client: ClientBase, user = '', warnings?: Warnings) {
  const query = client.query<{ why: string; command?: string | null }>(PROBLEMS.join(';\n'));
  const [problem] = [await query].flat().flatMap(({ rows }) => rows);
  if (!problem) return;
  const { why, command } = problem;
  if (command) warnings?.report(why, command.replaceAll('$USER', `"${user}"`));
  // What an administrator corrects with ALTER ROLE takes effect only in new connections.
  throw new PostgresqlStoreError(why, { finding: 'unusable', reconnects: true });
}
