import { randomUUID } from 'node:crypto';
import type { NewPlant } from '@plant-store/domain';
import type { PageRequest } from '@plant-store/plant-reader';
import {
  type Explanation,
  type InsertResult,
  NoResponseError,
  type PlantDatabase,
  type PlantFinding,
  type PlantInsert,
  type StoreObserver,
  Warnings,
} from '@plant-store/plant-repository-group-commit';
import { Client, type ClientBase, Query } from 'pg';
import { Connections } from './connections.js';
import { examineTable } from './examine-table.js';
import { explained, meaningOf, PostgresqlStoreError, UNKNOWN } from './postgresql-error.js';
import {
  insertOfRows,
  LOOK_UP,
  type MarkedPlant,
  markOf,
  PAGE,
  type PlantRow,
  plantOf,
  rowOf,
  STATE,
  type TableState,
  type Waits,
} from './table.js';

/** The maximum number of plants on a page, and in one insert. */
const MAX_PLANTS = 1_000;

/**
 * Where one plant is refused, others may be soon, and each makes a whole insert fail. So many inserts have at most a quarter of
 * the plants then: most of them have none that is refused, and do not wait for those that have.
 */
const SMALLER_INSERTS = 50;
const MIN_TOGETHER = 5;

/** Plants that are inserted together wait briefly for rows that other sessions have locked, and until they are durable. */
const TOGETHER: Waits = ['50ms', 'on'];

/** Plants that are sent apart wait neither for the disk nor for each other: a read that follows makes them durable. */
const APART: Waits = ['1ms', 'off'];

type Batch = readonly MarkedPlant[];

/** How many rows an insert has written, or why none. */
type Inserted = number | PostgresqlStoreError;

const HIDDEN =
  'row-level security hides the row with this id from the role, or a trigger prevented the insert. The policies for SELECT must show it every row';

const CHANGED =
  'a trigger may have changed the id or the mark of a plant, so what was inserted cannot be recognised';

const NO_LOOK_UPS = { finding: 'no look-ups', reconnects: true } as const;

/** A standby may lag behind the primary that a connection pooler sends inserts to. */
const STANDBY =
  'reads reach a standby, but inserts reach the primary, so existing ids cannot be looked up. Let the connection pooler send every statement to the primary (25006)';

const SLOW = 'writes are not acknowledged in time';

const MAY_LAG =
  'plants are read from a standby, which may lag: recent plants may be missing. Read them from the primary';

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlPlantDatabase implements PlantDatabase {
  readonly place: string;
  readonly limits = { maxInFlight: 5 };
  readonly #connections: Connections;
  readonly #warnings: Warnings;
  readonly #user: string | undefined;
  readonly #examine = (it: ClientBase) => examineTable(it, this.#user, this.#warnings);
  /** Whether the table was examined, and nothing was wrong. */
  #isExamined = false;
  /** False once a connection pooler, such as PgBouncer before 1.21, has lent out another session. */
  #prepares = true;
  /** How many inserts are still smaller, and a quarter of the plants of the one that had a refused one. */
  #smaller = { inserts: 0, plants: MAX_PLANTS };

  /** @param connectionString As `readUri` returns it. */
  constructor(connectionString: string, observe: StoreObserver = () => undefined) {
    const { host, port, user } = new Client(connectionString);
    this.place = `the database at ${host}:${port}`;
    this.#user = user;
    // As many inserts again may be under way that later ones do not wait for.
    this.#connections = new Connections(connectionString, 2 * this.limits.maxInFlight);
    this.#warnings = new Warnings(observe);
  }

  get maxTogether(): number {
    const { inserts, plants } = this.#smaller;
    return inserts > 0 ? Math.max(MIN_TOGETHER, plants) : MAX_PLANTS;
  }

  /** Returns an insert of a batch. It recognises the rows that it has written before by their marks. */
  newInsert(): PlantInsert {
    this.#smaller.inserts -= 1;
    const marks: string[] = [];
    const marked = (plant: NewPlant, at: number) => {
      marks[at] ??= randomUUID();
      return { plant, mark: marks[at] };
    };
    const send: PlantInsert['send'] = async (request) => {
      const insert = (client: ClientBase) => {
        const isRepeated = marks.length > 0;
        return this.#insert(client, request.take().map(marked), isRepeated);
      };
      try {
        return await this.#connections.run('inserts', insert, it);
      } catch (error) {
        const { finding = 'plant refused' } = meaningOf(error);
        if (finding === 'plant refused') throw error;
        return { findings: finding, error };
      }
    };
    const it: PlantInsert = { isRepeatable: true, send, lose: () => undefined };
    return it;
  }

  /** Reads a page, and makes its plants durable. On a standby, warns that plants may be missing. */
  async page({ after, limit }: PageRequest, signal: AbortSignal) {
    const values = [after ?? null, Math.min(limit, MAX_PLANTS)];
    const read = (client: ClientBase) =>
      client.query<PlantRow & Pick<TableState, 'in_recovery'>>(PAGE, values);
    const { rows } = await this.#connections.run('reads', read, signal);
    if (rows[0]?.in_recovery) this.#warnings.report(MAY_LAG);
    return rows.filter(({ id }) => id !== null).map(plantOf);
  }

  check(signal: AbortSignal): Promise<void> {
    return this.#check(signal).finally(() => this.#connections.replaceLost());
  }

  explain(error: unknown): Explanation {
    const otherwise = error instanceof NoResponseError ? 'no response' : 'unreachable';
    const { finding = otherwise } = meaningOf(error);
    return { finding, cause: error instanceof Error ? error : new Error(`${error}`) };
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Runs what an insert runs. The table is examined at the first check, and when a check fails. */
  async #check(signal: AbortSignal): Promise<void> {
    await this.#connections.run('checkReads', (it) => this.#readState(it), signal);
    try {
      await this.#connections.run('checkWrites', insertNothing, signal);
    } catch (error) {
      if (error === signal.reason) throw new PostgresqlStoreError(SLOW, { finding: 'slow' });
      await this.#connections.run('checkReads', this.#examine, signal);
      throw error;
    }
    // Other programs may have taken every other connection of the server.
    await this.#connections.expectAll(signal);
  }

  async #readState(client: ClientBase): Promise<void> {
    const { rows } = await client.query<TableState>(STATE);
    if (!rows[0]?.is_kept || !this.#isExamined) await this.#examine(client);
    this.#isExamined = true;
  }

  async #insert(client: ClientBase, plants: Batch, isRepeated: boolean): Promise<InsertResult> {
    if (plants.length === 0) return { findings: [] };
    // Sorted by id, so that inserts from several instances wait for each other instead of deadlocking.
    const sorted = plants.toSorted((a, b) => (a.plant.id < b.plant.id ? -1 : 1));
    try {
      const inserted = await this.#insertRows(client, sorted, TOGETHER);
      if (inserted === plants.length) return { findings: 'stored' };
      return lookUp(client, plants, isRepeated, [inserted]);
    } catch (error) {
      if (!meaningOf(error).mayBeOnePlant) throw error;
      if (plants.length > 1 && this.#smaller.inserts <= 0)
        this.#smaller = { inserts: SMALLER_INSERTS, plants: plants.length / 4 };
      const inserting = plants.map((it) => this.#insertApart(client, it));
      return lookUp(client, plants, isRepeated, inserting);
    }
  }

  async #insertApart(client: ClientBase, plant: MarkedPlant): Promise<Inserted> {
    try {
      return await this.#insertRows(client, [plant], APART);
    } catch (error) {
      if (!(error instanceof PostgresqlStoreError)) throw error;
      // Others may be written: all are sent again, and recognised.
      if (error.meaning.reconnects) throw new PostgresqlStoreError(error.message, UNKNOWN);
      return error;
    }
  }

  /** Resolves with the number of inserted rows. */
  #insertRows(client: ClientBase, plants: Batch, waits: Waits): Promise<number> {
    const { text, name, values } = insertOfRows(plants.map(rowOf), waits);
    return new Promise((resolve, reject) => {
      const query = new Query(text, values, (error, result) => {
        if (!error) return resolve(result.rowCount ?? 0);
        const known = explained(error, true);
        if (meaningOf(known).isUnprepared) this.#prepares = false;
        reject(known);
      });
      // `pg` copies an object that has a name, which is slow.
      client.query(this.#prepares ? Object.assign(query, { name }) : query);
    });
  }
}

/** Waits for the locks and standbys that an insert waits for, and fails if it would. */
async function insertNothing(client: ClientBase): Promise<void> {
  const { text, values } = insertOfRows([], TOGETHER);
  // `RETURNING` fails where a rule would discard the rows.
  await client.query(`${text} RETURNING mark`, values);
  await read(client, []);
}

/** Reads the rows with the ids of plants, and makes them durable. The first one has the state, even if there is no plant. */
async function read(client: ClientBase, plants: Batch) {
  const ids = plants.map(({ plant }) => plant.id);
  const { rows } = await client.query<PlantRow & TableState>(LOOK_UP, [ids]);
  if (rows[0]?.in_recovery) throw new PostgresqlStoreError(STANDBY, NO_LOOK_UPS);
  return rows;
}

/** Finds out what became of plants of which not every one was inserted together. */
async function lookUp(
  client: ClientBase,
  plants: Batch,
  isRepeated: boolean,
  inserting: readonly (Inserted | Promise<Inserted>)[],
): Promise<InsertResult> {
  const reading = read(client, plants);
  reading.catch(() => undefined);
  const inserted = await Promise.all(inserting);
  const count = inserted.reduce<number>((sum, it) => (it instanceof Error ? sum : sum + it), 0);
  try {
    const rows = await reading;
    const [state] = rows;
    const ids = new Set(rows.map(({ id }) => id));
    const marks = new Set(rows.map(markOf));
    const own = plants.filter(({ mark }) => marks.has(mark));
    // Otherwise, a row that seems to be another's may be one that this insert has written.
    const isCertain = own.length >= count && !(isRepeated && state?.has_trigger);
    const findings = plants.map(({ plant, mark }, at) => {
      if (marks.has(mark)) return 'stored';
      if (!state?.is_kept) return 'not now';
      if (!isCertain) return 'unknown';
      if (ids.has(`${plant.id}`)) return 'taken';
      return findingOf(inserted[at], state);
    });
    const hidden = findings.includes('unusable') ? new Error(HIDDEN) : undefined;
    const error = inserted.find((it) => it instanceof Error) ?? hidden;
    return { findings, error: isCertain ? error : new Error(CHANGED) };
  } catch (error) {
    // If only some rows were inserted, it is not known which.
    return { findings: count === 0 ? 'not now' : 'unknown', error: explained(error, true) };
  }
}

/** Returns why a plant was not inserted. */
function findingOf(inserted: Inserted | undefined, { may_hide }: TableState): PlantFinding {
  if (inserted instanceof Error) {
    const { finding } = inserted.meaning;
    const reason = 'a constraint or trigger on the table, or a server limit, rejected the plant';
    return finding === 'plant refused' ? { finding, code: inserted.code, reason } : finding;
  }
  if (may_hide) return 'unusable';
  const reason = 'a trigger or policy on the table prevented the insert';
  return { finding: 'plant refused', code: 'no row was inserted', reason };
}
