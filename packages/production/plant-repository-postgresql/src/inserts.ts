import { randomUUID } from 'node:crypto';
import type { NewPlant } from '@plant-store/domain';
import {
  findingAt,
  type InsertResult,
  type PlantFinding,
  type PlantInsert,
} from '@plant-store/plant-repository-group-commit';
import type { Connections } from './connections.js';
import type { ExaminedTable } from './examined-table.js';
import { lookUp } from './look-up.js';
import { type MarkedPlant, rowOf } from './plant-row.js';
import type { PlantClient } from './plant-store-client.js';
import { PostgresqlStoreError, withoutPlant } from './postgresql-error.js';
import { absentColumn } from './table.js';

/** How long a batch waits for a row that another session has locked, and how long a part of it does. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_TIMEOUT_OF_PART_MS = 50;

/** How long the parts of a batch are inserted. The rest is inserted later. */
const PARTS_MS = 1_000;

/** The factor by which a batch shrinks when one of its plants makes the insert fail. */
const SMALLER_BY = 16;

/** Makes inserts, and carries them out: whole first, then in parts if one plant makes that fail. */
export class Inserts {
  readonly #connections: Connections;
  readonly #table: ExaminedTable;
  /** False once a connection pooler, such as PgBouncer before 1.21, has lent out another session. */
  #prepares = true;

  constructor(connections: Connections, table: ExaminedTable) {
    this.#connections = connections;
    this.#table = table;
  }

  /** Returns an insert of a batch. It recognises the rows that it has written before by their marks. */
  newInsert(): PlantInsert {
    const marks: string[] = [];
    const marked = (plant: NewPlant, at: number): MarkedPlant => {
      marks[at] ??= randomUUID();
      return { plant, mark: marks[at] };
    };
    return {
      isRepeatable: true,
      send: (request, lost) => this.#send(() => request.take().map(marked), lost),
    };
  }

  async #send(take: () => readonly MarkedPlant[], lost: AbortSignal): Promise<InsertResult> {
    const insert = (client: PlantClient) => this.#insert(client, take());
    try {
      return await this.#connections.inserts.run(insert, lost, 'close');
    } catch (error) {
      if (error instanceof PostgresqlStoreError) return resultOf(error);
      throw error;
    }
  }

  /** Inserts plants together or, when one of them makes that fail, in smaller and smaller parts. */
  async #insert(client: PlantClient, plants: readonly MarkedPlant[]): Promise<InsertResult> {
    if (plants.length === 0) return { findings: [] };
    const whole = await this.#insertPart(client, plants, LOCK_TIMEOUT_MS);
    if (whole) return whole;
    const found = new Map<MarkedPlant, PlantFinding>();
    let error: unknown;
    const end = performance.now() + PARTS_MS;
    const parts = partsOf(plants);
    for (const part of parts) {
      if (performance.now() > end) break;
      const inserting = this.#insertPart(client, part, LOCK_TIMEOUT_OF_PART_MS);
      const result = await inserting.catch((cause: unknown) => {
        // What the earlier parts have found is lost: they are inserted again, and recognised.
        throw new Error('the connection was lost', { cause });
      });
      if (!result) parts.push(...partsOf(part));
      else for (const [at, it] of part.entries()) found.set(it, findingAt(result, at));
      error ??= result?.error;
    }
    return { findings: plants.map((it) => found.get(it) ?? 'not now'), error };
  }

  /** Resolves with `undefined` when one of several plants may be why none was inserted. */
  async #insertPart(
    client: PlantClient,
    plants: readonly MarkedPlant[],
    lockTimeoutMs: number,
  ): Promise<InsertResult | undefined> {
    try {
      return await this.#insertFitting(client, plants, lockTimeoutMs);
    } catch (error) {
      const known = withoutPlant(error);
      if (!(known instanceof PostgresqlStoreError) || known.facts.reconnects) throw error;
      if (known.facts.isUnprepared) this.#prepares = false;
      if (known.facts.mayBeOnePlant && plants.length > 1) return undefined;
      const [plant] = plants;
      const isLocked = plant && known.facts.isLocked;
      return isLocked ? lookUpLocked(client, plant, known) : resultOf(known);
    }
  }

  /** Inserts plants, except those with a field whose column is absent. */
  async #insertFitting(
    client: PlantClient,
    plants: readonly MarkedPlant[],
    lockTimeoutMs: number,
  ): Promise<InsertResult> {
    // Read once: a check may find the column while the insert is on its way.
    const { absent } = this.#table.statements;
    const absentIn = ({ plant }: MarkedPlant) => absent.find((it) => plant[it] !== undefined);
    const column = plants.map(absentIn).find((it) => it !== undefined);
    if (column === undefined) return this.#insertRows(client, plants, lockTimeoutMs);
    const others = plants.filter((it) => !absentIn(it));
    const inserted = await this.#insertRows(client, others, lockTimeoutMs);
    return {
      findings: plants.map((it) =>
        absentIn(it) ? 'unusable' : findingAt(inserted, others.indexOf(it)),
      ),
      error: new PostgresqlStoreError('unusable', absentColumn(column)[0]),
    };
  }

  async #insertRows(
    client: PlantClient,
    plants: readonly MarkedPlant[],
    lockTimeoutMs: number,
  ): Promise<InsertResult> {
    if (plants.length === 0) return { findings: [] };
    const { columns, insertOne, insertMany } = this.#table.statements;
    // Sorted by id, so that inserts from several instances wait for each other instead of deadlocking.
    const rows = plants.toSorted((a, b) => (a.plant.id < b.plant.id ? -1 : 1)).map(rowOf);
    const isOne = rows.length === 1;
    const { text, name } = isOne ? insertOne : insertMany;
    const cells = columns.map((column) => rows.map((row) => row[column]));
    const values = [...(isOne ? cells.flat() : cells), `${lockTimeoutMs}ms`];
    const statement = { text, values, name: this.#prepares ? name : undefined };
    const { rowCount } = await client.runDurably(statement);
    if (rowCount === plants.length) return { findings: 'stored' };
    return lookUp(client, plants).catch((error: unknown) => ({
      // If only some rows were inserted, it is not known which.
      findings: rowCount === 0 ? 'not now' : 'unknown',
      error: withoutPlant(error),
    }));
  }
}

/**
 * Looks up a row that another session has locked: that session may be inserting it, or updating one that is committed.
 */
async function lookUpLocked(
  client: PlantClient,
  plant: MarkedPlant,
  locked: PostgresqlStoreError,
): Promise<InsertResult> {
  const found = await lookUp(client, [plant]).catch(() => undefined);
  const finding = found && findingAt(found, 0);
  return finding === 'stored' || finding === 'taken' ? { findings: finding } : resultOf(locked);
}

/** Returns the plants in up to {@link SMALLER_BY} parts. */
function partsOf(plants: readonly MarkedPlant[]): (readonly MarkedPlant[])[] {
  const size = Math.ceil(plants.length / SMALLER_BY);
  const count = Math.ceil(plants.length / size);
  return Array.from({ length: count }, (_, at) => plants.slice(at * size, (at + 1) * size));
}

/** Returns the result of an insert that failed as a whole. */
function resultOf(error: PostgresqlStoreError): InsertResult {
  const { finding, code } = error;
  if (finding !== 'plant refused') return { findings: finding, error };
  const reason = 'a constraint or trigger on the table, or a server limit, rejected the plant';
  return { findings: [{ finding, code, reason }], error };
}
