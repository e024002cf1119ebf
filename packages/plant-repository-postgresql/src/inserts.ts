import type {
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantFinding,
} from '@plant-store/plant-repository-group-commit';
import type { Connections } from './connections.js';
import type { ExaminedTable } from './examined-table.js';
import { type Found, lookUp } from './look-up.js';
import { rowOf } from './plant-row.js';
import type { PlantClient } from './plant-store-client.js';
import { StoreError } from './postgresql-error.js';
import { absentColumn } from './table.js';

type Findings = InsertResult['findings'];

/** Inserts batches of plants into the table. */
export class Inserts {
  readonly #connections: Connections;
  readonly #table: ExaminedTable;
  /** False once a connection pooler, such as PgBouncer before 1.21, has lent out another session. */
  #prepares = true;

  constructor(connections: Connections, table: ExaminedTable) {
    this.#connections = connections;
    this.#table = table;
  }

  /** Implements `PlantDatabase.insert`. */
  async run(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult> {
    let plants: readonly MarkedPlant[] = [];
    const insert = (client: PlantClient) => {
      plants = batch.take();
      return this.#insert(client, plants);
    };
    try {
      return await this.#connections.inserts.run(insert, signal, () => this.#connections.reset());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.facts.isUnprepared) this.#prepares = false;
      return { findings: findingsOf(error, plants.length), error };
    }
  }

  /** Inserts plants, except those with a field whose column is absent. */
  async #insert(client: PlantClient, plants: readonly MarkedPlant[]): Promise<InsertResult> {
    // Read once: a check may find the column while the insert is on its way.
    const absent = plants.map(({ plant }) =>
      this.#table.statements.absent.find((column) => plant[column] !== undefined),
    );
    const column = absent.find((it) => it !== undefined);
    if (column === undefined) return this.#insertRows(client, plants);
    const others = plants.filter((_, at) => absent[at] === undefined);
    const { findings: inserted } = await this.#insertRows(client, others);
    const rest = typeof inserted === 'string' ? others.map(() => inserted) : [...inserted];
    return {
      findings: absent.map((it) => (it ? 'unusable' : (rest.shift() ?? 'unknown'))),
      error: new StoreError('unusable', absentColumn(column)[0]),
    };
  }

  async #insertRows(client: PlantClient, plants: readonly MarkedPlant[]): Promise<InsertResult> {
    if (plants.length === 0) return { findings: [] };
    const { columns, insertOne, insertMany } = this.#table.statements;
    // Sorted by id, so that inserts from several instances wait for each other instead of deadlocking.
    const rows = plants.toSorted((a, b) => (a.plant.id < b.plant.id ? -1 : 1)).map(rowOf);
    const [one, another] = rows;
    const isOne = another === undefined;
    const { text, name } = isOne ? insertOne : insertMany;
    const values = columns.map((it) => (isOne ? one?.[it] : rows.map((row) => row[it])));
    const statement = { text, values, name: this.#prepares ? name : undefined };
    const { rowCount } = await client.runDurably(statement);
    if (rowCount === plants.length) return { findings: 'stored' };
    const ids = plants.map(({ plant }) => plant.id);
    const found = await lookUp(client, ids).catch(() => undefined);
    if (rowCount === 0 && found?.isKept === false) await this.#table.examine(client);
    // If only some rows were inserted, it is not known which.
    if (!found) return { findings: rowCount === 0 ? 'id may exist' : 'unknown' };
    const findings = plants.map((it) => findingOf(it, found));
    return { findings, ...(findings.includes('unusable') && { error: hidden() }) };
  }
}

const hidden = () =>
  new StoreError(
    'unusable',
    'row-level security hides the row with this id from the role, or a trigger prevented the insert. The policies for SELECT must show it every row',
  );

/** Returns what was found about one plant by an insert that has not inserted every plant. */
function findingOf(
  { plant: { id }, mark }: MarkedPlant,
  { marks, isKept, mayHide }: Found,
): PlantFinding {
  if (marks.get(id) === mark) return 'stored';
  if (!isKept) return 'not now';
  if (marks.has(id)) return { finding: 'id exists', committedMark: marks.get(id) };
  if (mayHide) return 'unusable';
  return {
    finding: 'plant refused',
    code: 'no row was inserted',
    reason: 'a trigger or policy on the table prevented the insert',
  };
}

/** Returns what was found by an insert that failed as a whole. */
function findingsOf({ finding, facts, code }: StoreError, plants: number): Findings {
  const { alone = finding, inBatch = finding } = facts;
  const found = plants > 1 ? inBatch : alone;
  if (found !== 'plant refused') return found;
  const reason = 'a constraint or trigger on the table, or a server limit, rejected the plant';
  return [{ finding: found, code, reason }];
}
