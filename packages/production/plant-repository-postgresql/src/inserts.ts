import { randomUUID } from 'node:crypto';
import type {
  InsertRequest,
  InsertResult,
  PlantFinding,
  PlantInsert,
} from '@plant-store/plant-repository-group-commit';
import type { Connections, PlantClient } from './connections.js';
import { explained, factsOf, PostgresqlStoreError } from './postgresql-error.js';
import {
  insertOfRows,
  LOOK_UP,
  type MarkedPlant,
  markOf,
  type PlantRow,
  rowOf,
  type TableState,
  type Waits,
} from './table.js';

/** Plants that are inserted together wait briefly for rows that other sessions have locked, and until they are durable. */
const TOGETHER: Waits = ['50ms', 'on'];

/** Plants that are sent apart wait neither for the disk nor for each other: a read that follows makes them durable. */
const APART: Waits = ['1ms', 'off'];

/** What an attempt has done before it looks up its plants. */
interface Attempt {
  readonly plants: readonly MarkedPlant[];
  /** Whether an earlier attempt may have inserted them. */
  readonly isRepeated: boolean;
  /** How many rows it has inserted. */
  inserted: number;
  /** Why plants were not inserted. */
  readonly errors?: Map<MarkedPlant, PostgresqlStoreError>;
}

type MarkRow = Pick<PlantRow, 'id' | 'mark'> & TableState;

const NOT_INSERTED = {
  finding: 'plant refused',
  code: 'no row was inserted',
  reason: 'a trigger or policy on the table prevented the insert',
} as const;

const HIDDEN =
  'row-level security hides the row with this id from the role, or a trigger prevented the insert. The policies for SELECT must show it every row';

const CHANGED =
  'a trigger may have changed the id or the mark of a plant, so what was inserted cannot be recognised';

/** A standby may lag behind the primary that a connection pooler sends inserts to. */
const STANDBY =
  'reads reach a standby, but inserts reach the primary, so existing ids cannot be looked up. Let the connection pooler send every statement to the primary (25006)';

/** Makes inserts, and carries them out: all plants together or, if one makes that fail, each by itself. */
export class Inserts {
  readonly #connections: Connections;
  /** False once a connection pooler, such as PgBouncer before 1.21, has lent out another session. */
  #prepares = true;
  /** False after a plant was refused: where one is, another may be in the next insert, which would fail and be sent again. */
  #areTogether = true;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Returns an insert of a batch. It recognises the rows that it has written before by their marks. */
  newInsert(): PlantInsert {
    const marks: string[] = [];
    let lost = new AbortController();
    return {
      isRepeatable: true,
      send: (request) => this.#send(request, marks, lost.signal),
      lose(error) {
        lost.abort(error);
        lost = new AbortController();
      },
    };
  }

  async #send(request: InsertRequest, marks: string[], lost: AbortSignal): Promise<InsertResult> {
    const insert = (client: PlantClient) => {
      const isRepeated = marks.length > 0;
      const plants = request.take().map((plant, at) => {
        marks[at] ??= randomUUID();
        return { plant, mark: marks[at] };
      });
      return this.#insert(client, plants, isRepeated);
    };
    try {
      return await this.#connections.run('inserts', insert, lost);
    } catch (error) {
      if (!(error instanceof PostgresqlStoreError) || error.finding === 'plant refused')
        throw error;
      return { findings: error.finding, error };
    }
  }

  async #insert(
    client: PlantClient,
    plants: readonly MarkedPlant[],
    isRepeated: boolean,
  ): Promise<InsertResult> {
    if (plants.length === 0) return { findings: [] };
    if (this.#areTogether) {
      // Sorted by id, so that inserts from several instances wait for each other instead of deadlocking.
      const sorted = plants.toSorted((a, b) => (a.plant.id < b.plant.id ? -1 : 1));
      try {
        const inserted = await this.#run(client, sorted, TOGETHER);
        if (inserted === plants.length) return { findings: 'stored' };
        return await resultOf({ plants, isRepeated, inserted }, read(client, plants));
      } catch (error) {
        if (!factsOf(error).mayBeOnePlant) throw error;
      }
    }
    const errors = new Map<MarkedPlant, PostgresqlStoreError>();
    const attempt = { plants, isRepeated, inserted: 0, errors };
    const inserting = plants.map((it) => this.#insertApart(client, it, attempt));
    const reading = read(client, plants);
    await Promise.all([...inserting, reading.catch(() => undefined)]);
    this.#areTogether = errors.size === 0;
    return resultOf(attempt, reading);
  }

  async #insertApart(client: PlantClient, plant: MarkedPlant, attempt: Attempt): Promise<void> {
    try {
      attempt.inserted += await this.#run(client, [plant], APART);
    } catch (error) {
      const isKnown = error instanceof PostgresqlStoreError && !error.facts.reconnects;
      // Others may be written: they are sent again, and recognised.
      if (!isKnown) throw new Error('the connection was lost', { cause: error });
      attempt.errors?.set(plant, error);
    }
  }

  /** Resolves with the number of inserted rows. */
  async #run(client: PlantClient, plants: readonly MarkedPlant[], waits: Waits): Promise<number> {
    const { text, values, name } = insertOfRows(plants.map(rowOf), waits);
    const insert = this.#prepares ? { text, values, name } : { text, values };
    try {
      return (await client.runDurably(insert)).rowCount ?? 0;
    } catch (error) {
      const known = explained(error, true);
      if (factsOf(known).isUnprepared) this.#prepares = false;
      throw known;
    }
  }
}

/** Runs what an insert runs, without a plant: waits for the locks and standbys that it waits for, and fails if it would. */
export async function insertNothing(client: PlantClient): Promise<void> {
  const { text, values } = insertOfRows([], TOGETHER);
  // `RETURNING` fails where a rule would discard the rows.
  await client.runDurably({ text: `${text} RETURNING mark`, values });
  await read(client, []);
}

/** Reads the rows with the ids of plants, and makes them durable. The first one has the state, even if there is no plant. */
async function read(client: PlantClient, plants: readonly MarkedPlant[]) {
  const statement = { text: LOOK_UP, values: [plants.map(({ plant }) => plant.id)] };
  const { rows } = await client.runDurably<MarkRow>(statement);
  if (rows[0]?.in_recovery)
    throw new PostgresqlStoreError('no look-ups', STANDBY, { reconnects: true }, '25006');
  return rows;
}

/** Resolves with what became of plants of which not every one was inserted together. */
async function resultOf(
  attempt: Attempt,
  reading: Promise<readonly MarkRow[]>,
): Promise<InsertResult> {
  const { plants, isRepeated, inserted, errors = new Map() } = attempt;
  try {
    const rows = await reading;
    const { is_kept, may_hide, has_trigger } = rows[0] as MarkRow;
    const ids = new Set(rows.map(({ id }) => id));
    const marks = new Set(rows.map(markOf));
    const own = plants.filter(({ mark }) => marks.has(mark));
    // Otherwise, a row that seems to be another's may be one that this insert has written.
    const isCertain = own.length >= inserted && !(isRepeated && has_trigger);
    const findings = plants.map((it): PlantFinding => {
      if (marks.has(it.mark)) return 'stored';
      if (!is_kept) return 'not now';
      if (!isCertain) return 'unknown';
      if (ids.has(`${it.plant.id}`)) return 'taken';
      return findingOf(errors.get(it)) ?? (may_hide ? 'unusable' : NOT_INSERTED);
    });
    const [
      failed = findings.includes('unusable')
        ? new PostgresqlStoreError('unusable', HIDDEN)
        : undefined,
    ] = errors.values();
    return { findings, error: isCertain ? failed : new Error(CHANGED) };
  } catch (error) {
    // If only some rows were inserted, it is not known which.
    return { findings: inserted === 0 ? 'not now' : 'unknown', error: explained(error, true) };
  }
}

/** Returns what an error means for the only plant of an insert. */
function findingOf(error: PostgresqlStoreError | undefined): PlantFinding | undefined {
  if (error?.finding !== 'plant refused') return error?.finding;
  const reason = 'a constraint or trigger on the table, or a server limit, rejected the plant';
  return { finding: error.finding, code: error.code, reason };
}
