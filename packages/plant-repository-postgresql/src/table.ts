/** Run once by an administrator. */
export const CREATE_TABLE = `CREATE TABLE plants (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  tag text,
  mark uuid NOT NULL
)`;

const WRONG_TYPE = `SELECT format('the column %s of the table plants is %s. Change it to %s', name,
    coalesce(format_type(atttypid, atttypmod), 'missing'), type)
  FROM (VALUES ('id', 'bigint'), ('name', 'text'), ('tag', 'text'), ('mark', 'uuid')) AS wanted (name, type)
  LEFT JOIN pg_attribute ON attrelid = plants.oid AND attname = name AND NOT attisdropped
  WHERE coalesce(format_type(atttypid, atttypmod), '')
    NOT IN (type, replace(type, 'text', 'character varying')) LIMIT 1`;

/** Policies that refuse or hide some rows cannot be recognized. */
const WITHOUT_POLICY = `SELECT format(
    'row-level security of the table plants has no policy for %s. Create one', name)
  FROM (VALUES ('a', 'INSERT'), ('r', 'SELECT')) AS command (code, name)
  WHERE row_security_active(plants.oid) AND NOT EXISTS (
    SELECT FROM pg_policy, unnest(polroles) AS role
    WHERE polrelid = plants.oid AND polpermissive AND polcmd::text IN ('*', code)
      AND (role = 0 OR pg_has_role(role, 'USAGE'))) LIMIT 1`;

/** Reads why the table cannot keep plants, by the catalog and the settings of the server. Waits for no lock of the table. */
export const EXAMINE = `SELECT CASE
    WHEN current_setting('fsync', true) = 'off'
      THEN 'fsync is off, so a crash loses plants. Set it to on'
    WHEN current_setting('server_encoding') <> 'UTF8'
      THEN 'the encoding of the database is not UTF8. Create another one'
    WHEN relkind <> 'r' THEN 'plants is not an ordinary table. Create one'
    WHEN relpersistence <> 'p' THEN 'the table plants is unlogged. Set it to logged'
    ELSE coalesce((${WRONG_TYPE}), (${WITHOUT_POLICY})) END AS problem
  FROM pg_class AS plants WHERE oid = 'plants'::regclass`;

const GRANT = 'GRANT SELECT, INSERT ON plants TO $USER;';

/** The statements that an administrator can correct an error with, by its message. `$USER` is the role of the service. */
export const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/table plants does not exist/, `${CREATE_TABLE};\n${GRANT}`],
  [/^permissions on the table/, GRANT],
];
