import { createHash } from 'node:crypto';
import type { NewPlant, NewPlantFields, Plant } from '@plant-store/domain';
import { UnreadablePlantError } from '@plant-store/plant-reader';

/** A plant to be inserted, and the mark by which its insert recognises it later. */
export interface MarkedPlant {
  readonly plant: NewPlant;
  readonly mark: string;
}

/** A row of the table. The driver reads a `bigint` as text, and other programs write any mark, or none. */
export type PlantRow = Readonly<Record<'id', string> & Record<keyof Plant | 'mark', string | null>>;

/** The types of the columns. */
export const COLUMNS: Readonly<Record<keyof PlantRow, string>> = {
  id: 'bigint',
  name: 'text',
  tag: 'text',
  mark: 'uuid',
};

const NAMES = Object.keys(COLUMNS) as (keyof PlantRow)[];

const CONSTRAINTS = { id: ' PRIMARY KEY', name: ' NOT NULL', tag: '', mark: ' NOT NULL' };

/** Run once by an administrator. */
export const CREATE_TABLE = `CREATE TABLE plants (${NAMES.map((it) => `\n  ${it} ${COLUMNS[it]}${CONSTRAINTS[it]}`)}\n)`;

/**
 * Returns the row of a plant. A `text` column can hold any string that does not contain U+0000. When a field has one,
 * `\0` stands for U+0000 and `\\` for a backslash in every field, and the version of the mark is 8 instead of 4.
 */
export function rowOf({ plant, mark }: MarkedPlant): PlantRow {
  const { name, tag = null } = plant;
  const id = `${plant.id}`;
  if (!name.includes('\0') && !tag?.includes('\0')) return { id, name, tag, mark };
  return { id, name: escaped(name), tag: tag && escaped(tag), mark: version(mark, '8') };
}

/** Returns the plant of a row, or throws `UnreadablePlantError`. */
export function plantOf({ id, name, tag, mark }: PlantRow): Required<NewPlantFields> {
  const isEscaped = mark?.[14] === '8';
  if (name === null || (isEscaped && [name, tag].some(hasOtherEscape))) {
    throw new UnreadablePlantError(
      `the row with the id ${id} is not a plant: another program wrote it. Remove it or correct it`,
    );
  }
  const textOf = isEscaped ? unescaped : (text: string) => text;
  return { id: BigInt(id), name: textOf(name), tag: tag === null ? undefined : textOf(tag) };
}

/** Returns the mark that a plant was given; `undefined` when another program wrote the row without one. */
export function markOf({ mark }: Pick<PlantRow, 'mark'>): string | undefined {
  return mark?.[14] === '8' ? version(mark, '4') : (mark ?? undefined);
}

function version(mark: string, digit: string): string {
  return mark.slice(0, 14) + digit + mark.slice(15);
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, next) => (next === '0' ? '\0' : next));
}

function hasOtherEscape(text: string | null): boolean {
  return text?.replace(/\\[\\0]/g, '').includes('\\') ?? false;
}

/**
 * For this transaction, so that a connection pooler can lend the connection to others: no default of the server, the
 * database or the role makes it less durable, or hides the warnings of a commit.
 */
const settings = (commit: string) => `set_config('synchronous_commit', ${commit}, true) <> ''
  AND set_config('client_min_messages', 'warning', true) <> ''`;

/** Whether a commit survives a crash of the machine. A server without the setting is trusted. */
const IS_KEPT = `coalesce(current_setting('fsync', true), 'on') <> 'off'
  AND (SELECT relpersistence = 'p' FROM pg_class WHERE oid = to_regclass('plants'))`;

/**
 * Another session may have committed a plant without waiting for the disk or the standbys. A message in the log after
 * that commit makes the synchronous commit of this transaction include it. A standby shows only what it has flushed.
 */
const FLUSH = `CASE WHEN NOT pg_is_in_recovery() THEN pg_logical_emit_message(true, 'plant-store', '') END`;

/** What {@link STATE} reads. */
export interface TableState {
  /** Whether plants are kept, and the key holds for all of them: it does not for tables that inherit from this one. */
  readonly is_kept: boolean | null;
  /** Whether row-level security may hide plants from the role. */
  readonly may_hide: boolean;
  /** Whether a trigger may change or skip what is inserted. */
  readonly has_trigger: boolean;
  /** Whether a standby replies, which may lag behind the primary. */
  readonly in_recovery: boolean;
}

/** Reads the catalog, and waits for nothing. */
export const STATE = `SELECT pg_is_in_recovery() AS in_recovery, row_security_active(plants) AS may_hide,
    ${IS_KEPT} AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = plants) AS is_kept,
    EXISTS (SELECT FROM pg_trigger WHERE tgrelid = plants AND tgtype & 4 = 4 AND NOT tgisinternal) AS has_trigger
  FROM to_regclass('plants') AS plants`;

/**
 * Reads marks by ids, and makes durable what it reads. Without ids, it writes only where standbys acknowledge. There is a
 * row even if there is no plant, and so is there on a {@link PAGE}.
 */
export const LOOK_UP = `SELECT id, mark, state.*, CASE WHEN cardinality($1::bigint[]) > 0
    OR current_setting('synchronous_standby_names', true) <> '' THEN ${FLUSH} END AS flushed
  FROM (SELECT ${settings("'on'")} AS are_set) AS settings, (${STATE}) AS state
  LEFT JOIN plants ON id = ANY ($1::bigint[])`;

/** Reads a page, which ends with the plant that reaches 4 MiB. `octet_length` does not read the value of a large column. */
export const PAGE = `SELECT page.*, pg_is_in_recovery() AS in_recovery, ${FLUSH} AS flushed
  FROM (SELECT ${settings("'on'")} AS are_set) AS settings LEFT JOIN (
    SELECT ${NAMES}, sum(octet_length(name) + coalesce(octet_length(tag), 0))
      OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
    FROM plants WHERE $1::bigint IS NULL OR id > $1::bigint ORDER BY id LIMIT $2
  ) AS page ON true
  WHERE coalesce(bytes_before, 0) < ${4 * 1024 ** 2} ORDER BY id`;

/**
 * Returns an insert, whose last parameters are {@link Waits}. The command tag counts the plants: no rows are returned. The
 * server plans the prepared statement once; its name is a digest of the text, because a connection pooler lends sessions
 * together with the statements of others.
 */
function insertOf(values: readonly string[]) {
  const [lock, commit] = [`$${values.length + 1}`, `$${values.length + 2}`];
  const text = `INSERT INTO plants (${NAMES}) SELECT ${values}
    WHERE ${settings(commit)} AND ${IS_KEPT} AND set_config('lock_timeout', ${lock}, true) <> ''
    ON CONFLICT (id) DO NOTHING`;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return { text, name: `insert plants ${digest}` };
}

/** Without arrays, which take the server longer: a single client would wait for them. */
const INSERT_ONE = insertOf(NAMES.map((it, at) => `$${at + 1}::${COLUMNS[it]}`));

const INSERT_MANY = insertOf(NAMES.map((it, at) => `unnest($${at + 1}::${COLUMNS[it]}[])`));

/** How long an insert waits for a row that another session has locked, and whether until the plants are durable. */
export type Waits = readonly [lock: string, commit: 'on' | 'off'];

/** Returns an insert of rows. */
export function insertOfRows(rows: readonly PlantRow[], waits: Waits) {
  const [first, ...others] = rows;
  const isOne = first && others.length === 0;
  const values = NAMES.map((it) => (isOne ? first[it] : rows.map((row) => row[it])));
  return { ...(isOne ? INSERT_ONE : INSERT_MANY), values: [...values, ...waits] };
}
