import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { NewPlantFields, PageRequest } from '@plant-store/domain';
import type {
  Explanation,
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantFinding,
  PlantStorage,
  StorageObserver,
} from '@plant-store/plant-repository-group-commit';
import { Client } from 'pg';
import { ConnectionPool, type PlantClient } from './connection-pool.js';
import type { Connecting } from './connection-string.js';
import { markOf, type PlantRow, plantOf, rowOf } from './plant-row.js';
import { NO_PERMISSION, PostgresqlError, withServerText } from './server-error.js';
import { IS_ENDED, LOOK_UP, statementsFor } from './statements.js';
import {
  absentColumn,
  EXAMINE,
  MAY_LAG,
  type TableState,
  TORN_PAGES,
  type Warning,
} from './table.js';

const NEVER = new AbortController().signal;

/** The code of a lock timeout: another session holds a row with the same id. */
const LOCKED = '55P03';

/**
 * How long the connection of a check, which waits for nothing, may have no reply after a new one has got one: until then,
 * both the server and the network may have stood still.
 */
const LOST_AFTER_MS = 1_000;

/** The maximum number of plants on a page. */
const MAX_PAGE = 1_000;

/**
 * Error codes of a connection pooler that does not track prepared statements: the name is unknown, or belongs to
 * another client.
 */
const UNPREPARED = /^(?:26000|42P05)$/;

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlStorage implements PlantStorage {
  readonly place: string;
  readonly limits = { ordinary: 6, suspects: 4, stragglers: 0 };
  readonly #user: string | undefined;
  readonly #observer: StorageObserver;
  readonly #inserts: ConnectionPool;
  readonly #reads: ConnectionPool;
  /** For what responds at once, unless its connection is lost: a second one shows that the server responds. */
  readonly #checks: ConnectionPool;
  /** For a write of nothing, which waits for locks and standbys as an insert does. */
  readonly #writes: ConnectionPool;
  /** Begins the writes of checks, so that this instance's are found in `pg_stat_activity`. */
  readonly #writeName = `/* plant-store check ${randomUUID()} */`;
  /** The latest write of a check. No other starts until it has ended, or its connection is lost. */
  #writing: Promise<unknown> | undefined;
  /** Statements of checks that have no reply yet. */
  readonly #silent = new Set<object>();
  /** Whether a connection was lost silently since the last check. */
  #hasLost = false;
  /** Checks run every second and would repeat each warning. */
  readonly #warned = new Set<string>();
  /** For the columns that the last check has found. */
  #statements = statementsFor([]);
  /** False once a connection pooler, such as PgBouncer before 1.21, has lent out another session. */
  #prepares = true;

  constructor(connecting: Connecting, observer: StorageObserver = () => undefined) {
    const { host, port, user } = new Client(connecting);
    this.place = `the database at ${host}:${port}`;
    this.#user = user;
    this.#observer = observer;
    this.#inserts = new ConnectionPool(connecting, this.limits.ordinary + this.limits.suspects);
    this.#reads = new ConnectionPool(connecting, 2);
    this.#checks = new ConnectionPool(connecting, 2);
    this.#writes = new ConnectionPool(connecting, 1);
    for (const message of connecting.withoutEffect) this.#warn({ message });
  }

  newMark(): string {
    return randomUUID();
  }

  async insert(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult> {
    let plants: readonly MarkedPlant[] = [];
    try {
      return await this.#inserts.run(
        (client) => {
          plants = batch.take();
          return this.#insert(client, plants);
        },
        signal,
        this.#lose,
      );
    } catch (error) {
      if (!(error instanceof PostgresqlError)) throw error;
      if (UNPREPARED.test(error.code)) this.#prepares = false;
      return { findings: findingsOf(error, plants.length), error };
    }
  }

  committedMarks(ids: readonly bigint[], signal: AbortSignal): Promise<Marks> {
    const look = async (client: PlantClient) => (await lookUp(client, ids)).marks;
    return this.#reads.run(look, signal, this.#lose);
  }

  async page(
    { after, limit }: PageRequest,
    signal: AbortSignal,
  ): Promise<readonly NewPlantFields[]> {
    const values = [after ?? null, Math.min(limit, MAX_PAGE)];
    const read = (client: PlantClient) =>
      client.committed<Nullable<PlantRow> & Recovery>({ text: this.#statements.page, values });
    const { rows } = await this.#reads.run(read, signal);
    if (rows[0]?.in_recovery) this.#warn(MAY_LAG);
    return rows.filter(isRow).map(plantOf);
  }

  async check(signal: AbortSignal): Promise<void> {
    try {
      const isStandby = await this.#expectResponse(signal);
      await this.#expectWrite(signal);
      if (isStandby) throw standbyError();
      // Other programs may have taken every other connection of the server.
      await this.#inserts.expectConnection(signal);
      await this.#reads.expectConnection(signal);
    } catch (error) {
      if (error instanceof PostgresqlError && error.command) this.#warn(error);
      throw error;
    }
  }

  explain(error: unknown): Explanation {
    const finding = error instanceof PostgresqlError ? error.finding : 'no server';
    return { finding, cause: error instanceof Error ? error : new Error(`${error}`) };
  }

  async close(): Promise<void> {
    const all = [this.#inserts, this.#reads, this.#checks, this.#writes];
    await Promise.all(all.map((connections) => connections.close()));
  }

  /** A connection is considered lost. Its backend ends when the server notices. */
  readonly #lose = (client: PlantClient) => {
    this.#hasLost = true;
    void client.end();
  };

  /** Inserts plants, except those with a field whose column is absent. */
  async #insert(client: PlantClient, plants: readonly MarkedPlant[]): Promise<InsertResult> {
    // Once, since a check may find the column while the insert is on its way.
    const absent = plants.map(({ plant }) =>
      this.#statements.absent.find((column) => plant[column] !== undefined),
    );
    const column = absent.find((it) => it !== undefined);
    if (column === undefined) return { findings: await this.#insertRows(client, plants) };
    const others = plants.filter((_, at) => absent[at] === undefined);
    const inserted = await this.#insertRows(client, others);
    const rest = typeof inserted === 'string' ? others.map(() => inserted) : [...inserted];
    return {
      findings: absent.map((it) => (it ? 'unusable' : (rest.shift() ?? 'unknown'))),
      error: new PostgresqlError(absentColumn(column).message, 'unusable'),
    };
  }

  async #insertRows(client: PlantClient, plants: readonly MarkedPlant[]): Promise<Findings> {
    if (plants.length === 0) return [];
    const { columns, insertOne, insertMany } = this.#statements;
    // Sorted by id, so that inserts from several instances wait for each other instead of deadlocking.
    const rows = plants.toSorted((a, b) => (a.plant.id < b.plant.id ? -1 : 1)).map(rowOf);
    const [one, another] = rows;
    const isOne = another === undefined;
    const { text, name } = isOne ? insertOne : insertMany;
    const values = columns.map((it) => (isOne ? one?.[it] : rows.map((row) => row[it])));
    const statement = { text, values, name: this.#prepares ? name : undefined };
    const { rowCount } = await client.committed(statement);
    if (rowCount === plants.length) return 'stored';
    const ids = plants.map(({ plant }) => plant.id);
    const found = await lookUp(client, ids).catch(() => undefined);
    if (rowCount === 0 && found?.isKept === false) await this.#examine(client);
    if (found) return plants.map((it) => findingOf(it, found));
    // Then the group commit looks them up.
    return rowCount === 0 ? 'id exists' : 'unknown';
  }

  /**
   * Examines the table, which waits for no lock and no standby. Where one connection is lost without a sign, others are:
   * when the server responds to this, and an earlier check still has no reply, all of them are replaced.
   */
  async #expectResponse(signal: AbortSignal): Promise<boolean> {
    const earlier = [...this.#silent];
    const statement = {};
    const isStandby = await this.#checks.run(async (client) => {
      this.#silent.add(statement);
      return this.#examine(client).finally(() => this.#silent.delete(statement));
    }, signal);
    const isSilent = () => earlier.some((it) => this.#silent.has(it));
    if (isSilent()) await wait(LOST_AFTER_MS);
    if (this.#hasLost || isSilent()) {
      this.#hasLost = false;
      const all = [this.#inserts, this.#reads, this.#checks, this.#writes];
      for (const connections of all) connections.reset();
    }
    return isStandby;
  }

  /** Rejects when a write is not acknowledged until `signal` aborts. */
  async #expectWrite(signal: AbortSignal): Promise<void> {
    if (this.#writing) await this.#replaceLostWrite(signal);
    signal.throwIfAborted();
    const text = `${this.#writeName} ${this.#statements.insertNothing}`;
    this.#writing ??= this.#writes
      .run((client) => client.query(text).catch(throwExplained), NEVER)
      .finally(() => {
        this.#writing = undefined;
      });
    const late = once(signal, 'abort').then(() => {
      throw new PostgresqlError('writes are not acknowledged in time', 'slow');
    });
    await Promise.race([this.#writing, late]);
  }

  /** Closes the connection of an earlier write that has no reply although the server does not carry it out. */
  async #replaceLostWrite(signal: AbortSignal): Promise<void> {
    const look = (client: PlantClient) =>
      client.query<{ ended: boolean }>(IS_ENDED, [this.#writeName]);
    const { rows } = await this.#checks.run(look, signal);
    if (!rows[0]?.ended) return;
    this.#writes.reset();
    await this.#writing?.catch(() => undefined);
  }

  /** Rejects when the table cannot keep plants. Resolves with whether a standby has responded. */
  async #examine(client: PlantClient): Promise<boolean> {
    const { rows } = await client.query<TableState>(EXAMINE).catch(throwExplained);
    const { problem, torn, absent = [], in_recovery = false } = rows[0] ?? {};
    if (problem) throw new PostgresqlError(problem, 'unusable');
    if (torn) this.#warn(TORN_PAGES);
    this.#statements = statementsFor(absent);
    for (const column of absent) this.#warn(absentColumn(column));
    return in_recovery;
  }

  #warn({ message, command }: Warning): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const fix = command?.replace('$USER', `"${this.#user}"`);
    this.#observer({ type: 'storage warning', message, ...(fix && { command: fix }) });
  }
}

type Findings = InsertResult['findings'];
type Marks = ReadonlyMap<bigint, string | undefined>;

type Found = Awaited<ReturnType<typeof lookUp>>;

interface Recovery {
  readonly in_recovery: boolean;
}

/** A row of settings is there without a plant as well. */
type Nullable<Row> = Omit<Row, 'id'> & { readonly id: string | null };

const isRow = <Row extends { id: string | null }>(row: Row): row is Row & { id: string } =>
  row.id !== null;

interface LookedUp extends Nullable<Pick<PlantRow, 'id' | 'mark'>>, Recovery {
  readonly is_kept: boolean;
}

const throwExplained = (error: unknown): never => {
  throw withServerText(error);
};

/** A standby may lag behind the primary that a connection pooler sends inserts to. */
const standbyError = () =>
  new PostgresqlError(
    'reads reach a standby and inserts the primary, so no id can be looked up. Let the connection pooler send every statement to the primary (25006)',
    'no look-ups',
    '25006',
  );

/**
 * Resolves with the marks of plants, and whether the server would have kept those that were inserted. Rejects on a
 * standby.
 */
async function lookUp(client: PlantClient, ids: readonly bigint[]) {
  const { rows } = await client.committed<LookedUp>({ text: LOOK_UP, values: [ids] });
  if (rows[0]?.in_recovery) throw standbyError();
  const found = rows.flatMap((row) =>
    row.id === null ? [] : [[BigInt(row.id), markOf(row)] as const],
  );
  return { marks: new Map(found), isKept: rows[0]?.is_kept === true };
}

/** Returns what an insert that has not inserted every plant says about one of them. */
function findingOf({ plant: { id }, mark }: MarkedPlant, { marks, isKept }: Found): PlantFinding {
  if (marks.get(id) === mark) return 'stored';
  if (!isKept) return 'not now';
  if (marks.has(id)) return { finding: 'id exists', committedMark: marks.get(id) };
  return {
    finding: 'plant refused',
    code: 'no row was inserted',
    reason: 'a trigger or policy on the table prevented the insert',
  };
}

/** Returns the findings of an insert that failed as a whole. If one plant of several may be why, smaller inserts find it. */
function findingsOf({ finding, code }: PostgresqlError, plants: number): Findings {
  const isOfOne = finding === 'plant refused' || code === NO_PERMISSION || code === LOCKED;
  if (!isOfOne) return finding;
  if (plants > 1) return 'batch refused';
  if (code === LOCKED) return 'id exists';
  if (finding !== 'plant refused') return finding;
  return [
    {
      finding: 'plant refused',
      code,
      reason: 'a constraint or trigger on the table, or a server limit, rejected the plant',
    },
  ];
}
