import { isUtf8 } from 'node:buffer';
import { type NewPlantFields, UnreadablePlantError } from '@plant-store/domain';
import type { Advice, PlantRow, PlantTable, ServerError } from '@plant-store/plant-repository-sql';
import { Client, Pool, type PoolClient, type QueryResultRow } from 'pg';
import { NotDurableError, serverError } from './server-error.js';

/** Run once by an administrator. `text` cannot hold U+0000, so the columns hold UTF-8 as bytes. */
export const CREATE_TABLE = `CREATE TABLE plants (
  id bigint CONSTRAINT plants_pkey PRIMARY KEY,
  name bytea NOT NULL,
  tag bytea,
  mark uuid NOT NULL
)`;

/** Whether a commit survives a crash of the machine. A server without these settings is trusted. */
const FLUSHED = `coalesce(current_setting('fsync', true), 'on') <> 'off'`;
const LOGGED = `(SELECT relpersistence = 'p' FROM pg_class WHERE oid = 'plants'::regclass)`;

/**
 * For this transaction, so that no default of the server, the database or the role makes it less durable, and a
 * connection pooler can lend the connection to others.
 */
const SYNCHRONOUS = `set_config('synchronous_commit', 'on', true)`;

const INSERT = `INSERT INTO plants (id, name, tag, mark)
  SELECT $1::bigint, $2::bytea, $3::bytea, $4::uuid FROM ${SYNCHRONOUS}
  WHERE ${FLUSHED} AND ${LOGGED}`;

/**
 * Another session may have committed the plant without waiting for the disk or the standbys. This transaction writes a
 * message to the log after that commit, so its own synchronous commit includes the plant's.
 */
const MARK_OF = `SELECT mark, ${SYNCHRONOUS}, pg_logical_emit_message(true, 'plant-store', '')
  FROM plants WHERE id = $1`;

/** A page ends with the plant that reaches 4 MiB. `octet_length` does not read the value of a large column. */
const PAGE = `SELECT id, name, tag FROM (
    SELECT id, name, tag, sum(octet_length(name) + coalesce(octet_length(tag), 0))
      OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
    FROM plants WHERE $1::bigint IS NULL OR id > $1::bigint ORDER BY id LIMIT $2
  ) AS page
  WHERE coalesce(bytes_before, 0) < ${4 * 1024 ** 2} ORDER BY id`;

/** Its synchronous commit includes all commits before it, as that of {@link MARK_OF}. */
const FLUSH = `SELECT ${SYNCHRONOUS}, pg_logical_emit_message(true, 'plant-store', '')`;

const SETTINGS = `SELECT ${FLUSHED} AS flushed, ${LOGGED} AS logged,
  current_setting('full_page_writes', true) AS full_page_writes`;

/** Fails whenever an insert would fail, and inserts nothing. */
const INSERT_NOTHING = `INSERT INTO plants (id, name, tag, mark)
  SELECT id, name, tag, mark FROM plants WHERE false`;

const TORN_PAGES: Advice = {
  message:
    'full_page_writes is off: a crash of the machine can damage the table, unless the file system writes whole pages. Set it to on',
  command: 'ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();',
};

const UNDEFINED_TABLE = '42P01';
const NO_PERMISSION = '42501';
/** The code of notices that are not warnings. */
const NO_WARNING = '00000';

/** The longest wait for a connection, also for one that other plants use. */
const CONNECTED_WITHIN_MS = 2_000;

/** Without a user, `user:1234` could be a host and a port, and the password would be printed as a port. */
const URI = /^postgres(?:ql)?:\/\/[^/?#@]+@[^/?#@,]+\/[^/?#]+(?:\?|$)/;

/** Returns what is wrong with a connection string, without its password; `undefined` when it is valid. */
export function postgresqlUriProblem(uri: string): string | undefined {
  if (!URI.test(uri)) {
    return 'it must have a user, one host and a database, and other special characters percent-encoded';
  }
  try {
    new Client({ connectionString: uri });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be parsed';
  }
}

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlPlantTable implements PlantTable<PoolClient> {
  readonly place: string;
  readonly #user: string | undefined;
  readonly #pool: Pool;

  constructor(connectionString: string, maxConnections: number) {
    const { host, port, user } = new Client({ connectionString });
    this.place = `the database at ${host}:${port}`;
    this.#user = user;
    this.#pool = new Pool({
      connectionString,
      max: maxConnections,
      connectionTimeoutMillis: CONNECTED_WITHIN_MS,
      keepAlive: true,
      allowExitOnIdle: true,
    });
    // A lost connection emits `error`, which ends the process when no service listens. It needs no other
    // handling: the pool replaces idle connections, and a statement in progress rejects.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  connect(): Promise<PoolClient> {
    return this.#pool.connect();
  }

  release(client: PoolClient, close: boolean): void {
    client.release(close);
  }

  async insert(client: PoolClient, { id, name, tag, mark }: PlantRow): Promise<boolean> {
    const values = [id, Buffer.from(name), tag === undefined ? null : Buffer.from(tag), mark];
    const { rowCount } = await committed(client, INSERT, values);
    if (rowCount === 0) await refuseWhenNotDurable(client);
    return rowCount === 1;
  }

  async markOf(client: PoolClient, id: bigint): Promise<string | undefined> {
    const { rows } = await committed<{ mark: string }>(client, MARK_OF, [id]);
    return rows[0]?.mark;
  }

  async page(
    client: PoolClient,
    after: bigint | undefined,
    limit: number,
  ): Promise<readonly NewPlantFields[]> {
    const { rows } = await client.query<TableRow>(PAGE, [after ?? null, limit]);
    await committed(client, FLUSH, []);
    return rows.map(plantOf);
  }

  async check(client: PoolClient): Promise<Advice | undefined> {
    await client.query(INSERT_NOTHING);
    const fullPageWrites = await refuseWhenNotDurable(client);
    return fullPageWrites === 'off' ? TORN_PAGES : undefined;
  }

  serverError(error: unknown): ServerError | undefined {
    const known = serverError(error);
    return known && { ...known, advice: this.#adviceOn(known.code) };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #adviceOn(code: string): Advice | undefined {
    const grant = `GRANT SELECT, INSERT ON plants TO "${this.#user}"`;
    if (code === UNDEFINED_TABLE) {
      const message = 'the table plants does not exist. Create it, and grant its permissions';
      return { message, command: `${CREATE_TABLE};\n${grant};` };
    }
    const message = 'permissions on the table plants are missing. Grant them';
    return code === NO_PERMISSION ? { message, command: `${grant};` } : undefined;
  }
}

/**
 * Runs a statement that commits. Rejects when the server warns: it does so when an administrator ends its wait for
 * the standbys, and then reports a commit that no standby may have.
 */
async function committed<Row extends QueryResultRow>(
  client: PoolClient,
  statement: string,
  values: readonly unknown[],
) {
  let warned = false;
  const warn = ({ code }: { readonly code: string | undefined }) => {
    warned ||= code !== NO_WARNING;
  };
  client.on('notice', warn);
  try {
    const result = await client.query<Row>(statement, [...values]);
    if (warned) throw new Error('the server has warned about the commit');
    return result;
  } finally {
    client.off('notice', warn);
  }
}

/** The driver returns a bigint as text. */
interface TableRow {
  readonly id: string;
  readonly name: Buffer;
  readonly tag: Buffer | null;
}

function plantOf({ id, name, tag }: TableRow): NewPlantFields {
  if (isUtf8(name) && (tag === null || isUtf8(tag))) {
    return { id: BigInt(id), name: name.toString(), tag: tag?.toString() };
  }
  throw new UnreadablePlantError(
    `the row with the id ${id} is not a plant, since its text is not UTF-8: another program wrote it. Remove it or correct it`,
  );
}

interface Settings {
  readonly flushed: boolean;
  readonly logged: boolean;
  readonly full_page_writes: string | null;
}

/** Resolves with `full_page_writes`. */
async function refuseWhenNotDurable(client: PoolClient): Promise<string | null> {
  const { rows } = await client.query<Settings>(SETTINGS);
  const [settings] = rows;
  if (!settings?.flushed) {
    throw new NotDurableError('fsync is off, so a crash loses plants. Set it to on');
  }
  if (!settings.logged) throw new NotDurableError('the table plants is unlogged. Set it to logged');
  return settings.full_page_writes;
}
