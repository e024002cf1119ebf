import { randomUUID } from 'node:crypto';
import type { NewPlantFields, PlantPage } from '@plant-store/domain';
import type {
  InsertOutcome,
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantStorage,
  Problem,
  StorageObserver,
} from '@plant-store/plant-repository-group-commit';
import { Client, type PoolClient, type QueryResultRow } from 'pg';
import { Connections } from './connections.js';
import { markOf, type PlantRow, plantOf, rowOf } from './plant-row.js';
import { explain, StorageError } from './server-error.js';
import { type Advice, EXAMINE, type TableState, TORN_PAGES } from './table.js';

/**
 * For this transaction, so that a connection pooler can lend the connection to others: no default of the server, the
 * database or the role makes it less durable, or hides the warning of {@link committed}.
 */
const DURABLY = `set_config('synchronous_commit', 'on', true) AS durable,
  set_config('client_min_messages', 'warning', true) AS warned`;

/** Whether a commit survives a crash of the machine. An unlogged table has another file than before. */
const isKept = (file: string) => `coalesce(current_setting('fsync', true), 'on') <> 'off'
  AND pg_relation_filenode('plants'::regclass) = ${file}::oid`;

const INSERT = `INSERT INTO plants (id, name, tag, mark)
  SELECT plant.* FROM ${DURABLY},
    unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[]) AS plant
  WHERE ${isKept('$5')}
  ON CONFLICT (id) DO NOTHING RETURNING mark`;

/**
 * Another session may have committed a plant without waiting for the disk or the standbys. This transaction writes a
 * message to the log after that commit, so its own synchronous commit includes the plant's. What a standby shows, it
 * has flushed.
 */
const FLUSH = `(SELECT CASE WHEN NOT pg_is_in_recovery()
  THEN pg_logical_emit_message(true, 'plant-store', '') END) AS flushed`;

const LOOK_UP = `SELECT id, mark, kept, ${FLUSH}
  FROM ${DURABLY}, (SELECT ${isKept('$2')} AS kept) AS conditions
  LEFT JOIN plants ON id = ANY ($1::bigint[])`;

/** A page ends with the plant that reaches 4 MiB. `octet_length` does not read the value of a large column. */
const PAGE = `SELECT id, name, tag, mark, ${FLUSH} FROM ${DURABLY}, (
    SELECT id, name, tag, mark, sum(octet_length(name) + coalesce(octet_length(tag), 0))
      OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
    FROM plants WHERE $1::bigint IS NULL OR id > $1::bigint ORDER BY id LIMIT $2
  ) AS page
  WHERE coalesce(bytes_before, 0) < ${4 * 1024 ** 2} ORDER BY id`;

const COLUMNS = ['id', 'name', 'tag', 'mark'] as const;

/** A trigger of one plant may report it too. */
const NO_PERMISSION = '42501';

/** The code of notices that are not warnings. */
const NO_WARNING = '00000';

/** The most plants of a page. */
const MAX_PAGE = 1_000;

/** Fails when an insert would fail, and waits when its commit would wait: for a lock, or for standbys. */
const INSERT_NOTHING = `SELECT FROM ${DURABLY};
  INSERT INTO plants (id, name, tag, mark) SELECT id, name, tag, mark FROM plants WHERE false
    ON CONFLICT (id) DO NOTHING RETURNING mark;
  SELECT CASE WHEN current_setting('synchronous_standby_names', true) <> ''
    THEN pg_logical_emit_message(true, 'plant-store', '') END`;

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlStorage implements PlantStorage {
  readonly place: string;
  readonly limits = { ordinary: 6, again: 4, overtaken: 0 };
  readonly #user: string | undefined;
  readonly #observer: StorageObserver;
  readonly #inserts: Connections;
  readonly #reads: Connections;
  readonly #checks: Connections;
  readonly #advised = new Set<string>();
  /** The file of the table, while it is known to keep plants. */
  #file: number | undefined;

  constructor(connectionString: string, observer: StorageObserver = () => undefined) {
    const { host, port, user } = new Client({ connectionString });
    this.place = `the database at ${host}:${port}`;
    this.#user = user;
    this.#observer = observer;
    this.#inserts = new Connections(connectionString, this.limits.ordinary + this.limits.again);
    this.#reads = new Connections(connectionString, 2);
    this.#checks = new Connections(connectionString, 1);
  }

  newMark(): string {
    return randomUUID();
  }

  async insert(batch: PlantBatch): Promise<InsertResult> {
    let plants: readonly MarkedPlant[] = [];
    try {
      const outcomes = await this.#inserts.run(async (client) => {
        const file = this.#file ?? (await this.#examine(client));
        plants = batch.send();
        return plants.length === 0 ? [] : await this.#insert(client, plants, file);
      });
      return { outcomes };
    } catch (error) {
      this.#file = undefined;
      if (error instanceof StorageError) return { outcomes: outcomesOf(error, plants.length), error };
      throw error;
    }
  }

  committedMarks(ids: readonly bigint[], signal: AbortSignal): Promise<Marks> {
    return this.#reads.run(async (client) => (await lookUp(client, ids)).marks, signal);
  }

  page({ after, limit }: PlantPage, signal: AbortSignal): Promise<readonly NewPlantFields[]> {
    const values = [after ?? null, Math.min(limit, MAX_PAGE)];
    const read = (client: PoolClient) => committed<PlantRow>(client, PAGE, values);
    return this.#reads.run(read, signal).then((rows) => rows.map(plantOf));
  }

  async check(signal: AbortSignal): Promise<void> {
    let responds = false;
    try {
      await this.#checks.run(async (client) => {
        await this.#examine(client);
        responds = true;
        await client.query(INSERT_NOTHING);
      }, signal);
    } catch (error) {
      if (responds && signal.aborted) throw new StorageError('writes are not acknowledged in time', 'slow');
      if (error instanceof StorageError && error.command) this.#advise(error);
      throw error;
    }
  }

  explain(error: unknown): Problem {
    return explain(error);
  }

  async close(): Promise<void> {
    await Promise.all([this.#inserts.close(), this.#reads.close(), this.#checks.close()]);
  }

  /** Resolves with the file of the table. Rejects when the table cannot keep plants. */
  async #examine(client: PoolClient): Promise<number> {
    const { rows } = await client.query<TableState>(EXAMINE);
    const { file = 0, problem, torn } = rows[0] ?? {};
    if (problem) throw new StorageError(problem, 'refusal');
    if (torn) this.#advise(TORN_PAGES);
    this.#file = file;
    return file;
  }

  async #insert(
    client: PoolClient,
    plants: readonly MarkedPlant[],
    file: number,
  ): Promise<readonly InsertOutcome[]> {
    // In the order of their ids, inserts of several instances wait for each other without a deadlock.
    const rows = plants.toSorted((a, b) => (a.plant.id < b.plant.id ? -1 : 1)).map(rowOf);
    const columns = COLUMNS.map((column) => rows.map((row) => row[column]));
    const inserted = await committed<Pick<PlantRow, 'mark'>>(client, INSERT, [...columns, file]);
    const stored = new Set(inserted.map(markOf));
    const rest = plants.filter(({ mark }) => !stored.has(mark)).map(({ plant }) => plant.id);
    // When it fails, the group commit looks them up, and the others are stored.
    const found = rest.length > 0 ? await lookUp(client, rest, file).catch(() => undefined) : undefined;
    if (found?.isKept === false) this.#file = undefined;
    return plants.map((it) => (stored.has(it.mark) ? 'stored' : notInserted(it.plant.id, found)));
  }

  #advise({ message, command }: Advice): void {
    if (this.#advised.has(message)) return;
    this.#advised.add(message);
    const fix = command?.replace('$USER', `"${this.#user}"`);
    this.#observer({ type: 'storage warning', message, ...(fix && { command: fix }) });
  }
}

type Marks = ReadonlyMap<bigint, string | undefined>;

interface Found {
  readonly marks: Marks;
  /** Whether the server would have kept the plants. */
  readonly isKept: boolean;
}

async function lookUp(client: PoolClient, ids: readonly bigint[], file = 0): Promise<Found> {
  const rows = await committed<LookedUp>(client, LOOK_UP, [ids, file]);
  const marks = new Map<bigint, string | undefined>();
  for (const row of rows) if (row.id !== null) marks.set(BigInt(row.id), markOf(row));
  return { marks, isKept: rows[0]?.kept ?? false };
}

interface LookedUp {
  readonly id: string | null;
  readonly mark: string | null;
  readonly kept: boolean;
}

function notInserted(id: bigint, found: Found | undefined): InsertOutcome {
  if (found === undefined) return 'id exists';
  if (!found.isKept) return 'not written';
  if (found.marks.has(id)) return { committedMark: found.marks.get(id) };
  return { code: 'no row was inserted', reason: 'a trigger or a policy of the table' };
}

/** One plant of several may be the reason for a refusal. */
function outcomesOf({ outcome, code }: StorageError, plants: number): InsertResult['outcomes'] {
  const isOfOnePlant = outcome === 'refused' || code === NO_PERMISSION;
  if (isOfOnePlant && plants > 1) return 'refused with others';
  if (outcome !== 'refused') return outcome;
  return [{ code, reason: 'a constraint or a trigger of the table, or a limit of the server' }];
}

/**
 * Runs a statement that commits. Rejects when the server warns: it does so when an administrator ends its wait for
 * the standbys, and then reports a commit that no standby may have.
 */
async function committed<Row extends QueryResultRow>(
  client: PoolClient,
  statement: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  let warned = false;
  const warn = ({ code }: { readonly code: string | undefined }) => {
    warned ||= code !== NO_WARNING;
  };
  client.on('notice', warn);
  try {
    const { rows } = await client.query<Row>(statement, [...values]);
    if (warned) throw new Error('the server has warned about the commit');
    return rows;
  } finally {
    client.off('notice', warn);
  }
}
