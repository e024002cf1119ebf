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
import { Connections } from './connections.js';
import { ExaminedTable } from './examined-table.js';
import { HealthCheck } from './health-check.js';
import { Inserts } from './inserts.js';
import { type PlantRow, plantOf } from './plant-row.js';
import { PostgresqlStoreError } from './postgresql-error.js';
import { hasPlant, type WithSettings } from './statements.js';
import { MAY_LAG } from './table.js';

/** The maximum number of plants on a page. */
const MAX_PAGE = 1_000;

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlPlantDatabase implements PlantDatabase {
  readonly place: string;
  readonly maxTogether = 1_000;
  readonly limits = { maxInFlight: 5 };
  readonly #connections: Connections;
  readonly #table: ExaminedTable;
  readonly #warnings: Warnings;
  readonly #healthCheck: HealthCheck;
  readonly #inserts: Inserts;

  /** @param connectionString As `readUri` returns it. */
  constructor(connectionString: string, observe: StoreObserver = () => undefined) {
    const { host, port, user } = new Client(connectionString);
    this.place = `the database at ${host}:${port}`;
    // As many inserts again may be under way that later ones do not wait for.
    this.#connections = new Connections(connectionString, 2 * this.limits.maxInFlight);
    this.#warnings = new Warnings(observe);
    this.#table = new ExaminedTable(this.#warnings, user);
    this.#inserts = new Inserts(this.#connections, this.#table);
    this.#healthCheck = new HealthCheck(this.#connections, this.#table, this.#warnings);
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
    const { rows } = await this.#connections.reads.run((client) => {
      const page = { text: this.#table.statements.page, values };
      return client.runDurably<WithSettings<PlantRow>>(page);
    }, signal);
    if (rows[0]?.in_recovery) this.#warnings.report(MAY_LAG);
    return rows.filter(hasPlant).map(plantOf);
  }

  check(signal: AbortSignal): Promise<void> {
    return this.#healthCheck.run(signal);
  }

  explain(error: unknown): Explanation {
    const otherwise = error instanceof NoResponseError ? 'no response' : 'unreachable';
    const finding = error instanceof PostgresqlStoreError ? error.finding : otherwise;
    return { finding, cause: error instanceof Error ? error : new Error(`${error}`) };
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}
