import type { NewPlantFields } from '@plant-store/domain';
import type { PageRequest } from '@plant-store/plant-reader';
import {
  type Explanation,
  NoResponseError,
  type PlantDatabase,
  type PlantInsert,
  type StoreObserver,
  Warnings,
} from '@plant-store/plant-repository-group-commit';
import { Client } from 'pg';
import { Connections, type PlantClient } from './connections.js';
import { problemOf } from './examine-table.js';
import { Inserts, insertNothing } from './inserts.js';
import { PostgresqlStoreError } from './postgresql-error.js';
import { hasPlant, PAGE, type PlantRow, plantOf, STATE, type TableState } from './table.js';

/** The maximum number of plants on a page. */
const MAX_PAGE = 1_000;

const SLOW = 'writes are not acknowledged in time';

const MAY_LAG =
  'plants are read from a standby, which may lag: recent plants may be missing. Read them from the primary';

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlPlantDatabase implements PlantDatabase {
  readonly place: string;
  readonly maxTogether = 1_000;
  readonly limits = { maxInFlight: 5 };
  readonly #connections: Connections;
  readonly #inserts: Inserts;
  readonly #warnings: Warnings;
  readonly #user: string | undefined;
  /** Whether the table was examined, and nothing was wrong. */
  #isExamined = false;

  /** @param connectionString As `readUri` returns it. */
  constructor(connectionString: string, observe: StoreObserver = () => undefined) {
    const { host, port, user } = new Client(connectionString);
    this.place = `the database at ${host}:${port}`;
    this.#user = user;
    // As many inserts again may be under way that later ones do not wait for.
    this.#connections = new Connections(connectionString, 2 * this.limits.maxInFlight);
    this.#inserts = new Inserts(this.#connections);
    this.#warnings = new Warnings(observe);
  }

  newInsert(): PlantInsert {
    return this.#inserts.newInsert();
  }

  /** Reads a page, and makes its plants durable. On a standby, warns that plants may be missing. */
  async page(
    { after, limit }: PageRequest,
    signal: AbortSignal,
  ): Promise<readonly NewPlantFields[]> {
    const values = [after ?? null, Math.min(limit, MAX_PAGE)];
    const read = (client: PlantClient) =>
      client.runDurably<PlantRow & Pick<TableState, 'in_recovery'>>({ text: PAGE, values });
    const { rows } = await this.#connections.run('reads', read, signal);
    if (rows[0]?.in_recovery) this.#warnings.report(MAY_LAG);
    return rows.filter(hasPlant).map(plantOf);
  }

  async check(signal: AbortSignal): Promise<void> {
    // At the end: the next statement of the check would fail.
    await this.#check(signal).finally(() => this.#connections.replaceLost());
  }

  explain(error: unknown): Explanation {
    const otherwise = error instanceof NoResponseError ? 'no response' : 'unreachable';
    const finding = error instanceof PostgresqlStoreError ? error.finding : otherwise;
    return { finding, cause: error instanceof Error ? error : new Error(`${error}`) };
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Runs what an insert runs. The table is examined at the first check, and when a check fails. */
  async #check(signal: AbortSignal): Promise<void> {
    await this.#connections.run('checkReads', (it) => this.#readState(it), signal);
    await this.#connections
      .run('checkWrites', insertNothing, signal)
      .catch(async (error: unknown) => {
        if (error === signal.reason) throw new PostgresqlStoreError('slow', SLOW);
        await this.#connections.run('checkReads', (it) => this.#examine(it), signal);
        throw error;
      });
    // Other programs may have taken every other connection of the server.
    await this.#connections.expectAll(signal);
  }

  async #readState(client: PlantClient): Promise<void> {
    const { rows } = await client.query<TableState>(STATE);
    if (!rows[0]?.is_kept || !this.#isExamined) await this.#examine(client);
    this.#isExamined = true;
  }

  async #examine(client: PlantClient): Promise<void> {
    const problem = await problemOf(client, this.#user);
    if (!problem) return;
    const { command } = problem.facts;
    if (command) this.#warnings.report(problem.message, command);
    throw problem;
  }
}
