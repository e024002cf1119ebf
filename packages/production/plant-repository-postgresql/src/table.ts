import type { Plant } from '@plant-store/domain';
import { eachField, type PlantRow } from './plant-row.js';

type Column = keyof PlantRow;

/** A table created by an older version may lack columns that were added later. */
export type OptionalColumn = Exclude<Column, 'id' | 'name' | 'mark'>;

/** The column type of a field. Does not compile for a field that is not a string: add its type here. */
type FieldType<Value> = [Value] extends [string | undefined] ? 'text' : never;

const FIELDS: { readonly [Field in keyof Plant]-?: FieldType<Plant[Field]> } = eachField(
  () => 'text' as const,
);

/** The types of the columns. */
export const COLUMNS: Readonly<Record<Column, string>> = { id: 'bigint', ...FIELDS, mark: 'uuid' };

export const ALL_COLUMNS = Object.keys(COLUMNS) as Column[];

const REQUIRED_COLUMNS = ['id', 'name', 'mark'];

const OPTIONAL_COLUMNS = ALL_COLUMNS.filter((it) => !REQUIRED_COLUMNS.includes(it));

function definitionOf(column: string): string {
  if (column === 'id') return ' PRIMARY KEY';
  return REQUIRED_COLUMNS.includes(column) ? ' NOT NULL' : '';
}

const DEFINITIONS = Object.entries(COLUMNS).map(
  ([name, type]) => `\n  ${name} ${type}${definitionOf(name)}`,
);

/** Run once by an administrator. */
export const CREATE_TABLE = `CREATE TABLE plants (${DEFINITIONS}\n)`;

/** Run after {@link CREATE_TABLE}. `$USER` is the role of the service. */
const GRANT = 'GRANT SELECT, INSERT ON plants TO $USER;';

/** A change for the administrator to make, with the statements that make it. */
type Warning = readonly [message: string, command?: string];

const listed = (columns: readonly string[]) => columns.map((it) => `'${it}'`).join(', ');

const WANTED = Object.entries(COLUMNS).map(([name, type]) => `(${listed([name, type])})`);

const WRONG_TYPE = `SELECT format('the column %s of the table plants is %s. Change it to %s', name,
    coalesce(format_type(atttypid, atttypmod), 'missing'), type)
  FROM (VALUES ${WANTED.join(', ')}) AS wanted (name, type)
  LEFT JOIN pg_attribute ON attrelid = plants.oid AND attname = name AND NOT attisdropped
  WHERE (attname IS NOT NULL OR name IN (${listed(REQUIRED_COLUMNS)}))
    AND coalesce(format_type(atttypid, atttypmod), '')
      NOT IN (type, replace(type, 'text', 'character varying')) LIMIT 1`;

const ABSENT = `ARRAY(SELECT name FROM unnest(ARRAY[${listed(OPTIONAL_COLUMNS)}]) AS name
  WHERE NOT EXISTS (SELECT FROM pg_attribute
    WHERE attrelid = plants.oid AND attname = name AND NOT attisdropped))`;

/** Optional fields may be absent. The service writes no further columns, which a trigger (on each row, before an insert) may fill. */
const REQUIRED = `SELECT format('the column %I of the table plants is NOT NULL. Make it nullable', attname)
  FROM pg_attribute WHERE attrelid = plants.oid AND attnum > 0 AND NOT attisdropped AND attnotnull
    AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = plants.oid AND tgtype & 7 = 7)
    AND (attname IN (${listed(OPTIONAL_COLUMNS)})
      OR attname NOT IN (${listed(REQUIRED_COLUMNS)}) AND NOT atthasdef AND attidentity = '') LIMIT 1`;

/** Policies that refuse or hide some rows cannot be recognized. */
const WITHOUT_POLICY = `SELECT format(
    'row-level security of the table plants has no policy for %s. Create one', name)
  FROM (VALUES ('a', 'INSERT'), ('r', 'SELECT')) AS command (code, name)
  WHERE row_security_active(plants.oid) AND NOT EXISTS (
    SELECT FROM pg_policy, unnest(polroles) AS role
    WHERE polrelid = plants.oid AND polpermissive AND polcmd::text IN ('*', code)
      AND (role = 0 OR pg_has_role(role, 'USAGE'))) LIMIT 1`;

/** `ON CONFLICT` does not work with it. */
const DEFERRABLE = `SELECT 'the primary key of the table plants is deferrable. Replace it with one that is not'
  FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum::text = indkey::text
  WHERE indrelid = plants.oid AND attname = 'id' AND NOT indimmediate LIMIT 1`;

/** The default of a `serial` column uses a sequence. Without the permission, each insert fails. */
const SEQUENCE = `SELECT format('the permission USAGE on the sequence %s is missing. Grant it', pg_class.oid::regclass)
  FROM pg_attrdef JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = pg_attrdef.oid
    JOIN pg_class ON refclassid = 'pg_class'::regclass AND pg_class.oid = refobjid
  WHERE adrelid = plants.oid AND CASE WHEN pg_class.relkind = 'S'
    THEN NOT has_sequence_privilege(pg_class.oid, 'USAGE, UPDATE') END LIMIT 1`;

/**
 * Where the table is, if the role does not find it: a second, empty one would accept ids that it has. Tables of other
 * programs have no mark.
 */
const ELSEWHERE = `SELECT CASE WHEN NOT has_schema_privilege(nspname, 'USAGE')
    THEN ARRAY[format('the role lacks USAGE on the schema %I of the table plants. Grant it', nspname),
      format('GRANT USAGE ON SCHEMA %I TO $USER;', nspname)]
    ELSE ARRAY[format('the table plants is in the schema %I, which the search_path of the role lacks. Add it', nspname),
      format('ALTER ROLE $USER IN DATABASE %I SET search_path = %I, %s;',
        current_database(), nspname, current_setting('search_path'))] END
  FROM pg_class AS other JOIN pg_namespace ON pg_namespace.oid = relnamespace
    JOIN pg_attribute ON attrelid = other.oid AND attname = 'mark' AND atttypid = 'uuid'::regtype
  WHERE relname = 'plants' AND relkind IN ('r', 'p') AND relpersistence <> 't' ORDER BY nspname LIMIT 1`;

const MISSING = `ARRAY['the table plants does not exist. Create it and grant permissions on it', '${CREATE_TABLE};\n${GRANT}']`;

/** Reads a {@link TableState}. Waits for no lock of the table. */
export const EXAMINE = `SELECT current_setting('full_page_writes', true) = 'off' AS torn, ${ABSENT} AS absent,
    pg_is_in_recovery() AS in_recovery, CASE
    WHEN current_setting('fsync', true) = 'off'
      THEN ARRAY['fsync is off, so a crash can lose plants. Turn it on']
    WHEN current_setting('server_encoding') <> 'UTF8'
      THEN ARRAY['the database encoding is not UTF8. Create a UTF8 database']
    WHEN plants.oid IS NULL THEN coalesce((${ELSEWHERE}), ${MISSING})
    WHEN relkind <> 'r' THEN ARRAY['plants is not an ordinary table. Replace it with one']
    WHEN relpersistence <> 'p' THEN ARRAY['the table plants is unlogged. Run ALTER TABLE plants SET LOGGED', 'ALTER TABLE plants SET LOGGED;']
    WHEN current_setting('row_security') = 'off' AND row_security_active(plants.oid)
      THEN ARRAY['row_security is off, so every statement on the table plants is refused. Turn it on']
    WHEN NOT (has_any_column_privilege(plants.oid, 'SELECT') AND has_any_column_privilege(plants.oid, 'INSERT'))
      THEN ARRAY['the role lacks permissions on the table plants. Grant them', '${GRANT}']
    ELSE ARRAY[coalesce((${WRONG_TYPE}), (${REQUIRED}), (${DEFERRABLE}), (${WITHOUT_POLICY}), (${SEQUENCE}))]
    END AS unusable
  FROM to_regclass('plants') AS found LEFT JOIN pg_class AS plants ON plants.oid = found`;

/** What the catalog and the settings of the server show. */
export interface TableState {
  /** Whether a standby was read. */
  readonly in_recovery: boolean;
  /** Whether a crash can damage pages. */
  readonly torn: boolean | null;
  /** The optional columns that the table does not have. */
  readonly absent: readonly OptionalColumn[];
  /** Why the table cannot keep plants, if it cannot, and the statements that correct it. */
  readonly unusable: readonly [why: string | null, command?: string];
}

export const TORN_PAGES: Warning = [
  'full_page_writes is off, so a machine crash can damage the table unless the file system writes whole pages. Turn it on',
  'ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();',
];

export const MAY_LAG =
  'plants are read from a standby, which may lag: recent plants may be missing. Read them from the primary';

export const absentColumn = (column: OptionalColumn): Warning => [
  `the table plants has no column ${column}. Plants with a ${column} are refused until it is added`,
  `ALTER TABLE plants ADD COLUMN ${column} ${COLUMNS[column]};`,
];
