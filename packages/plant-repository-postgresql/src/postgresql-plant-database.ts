import type { NewPlantFields, PageRequest } from '@plant-store/domain';
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
import { PostgresqlStoreError } from './postgresql-error.js';
import { readPage } from './postgresql-page.js';

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlPlantDatabase implements PlantDatabase {
  readonly place: string;
  readonly maxTogether = 1_000;
  readonly limits = { maxInFlight: 6, maxAside: 4 };
  readonly #connections: Connections;
  readonly #table: ExaminedTable;
  readonly #warnings: Warnings;
  readonly #healthCheck: HealthCheck;
  readonly #inserts: Inserts;

  /** @param connectionString As `readUri` returns it. */
  constructor(connectionString: string, observe: StoreObserver = () => undefined) {
    const { host, port, user } = new Client(connectionString);
    this.place = `the database at ${host}:${port}`;
    this.#connections = new Connections(
      connectionString,
      this.limits.maxInFlight + this.limits.maxAside,
    );
    this.#warnings = new Warnings(observe);
    this.#table = new ExaminedTable(this.#warnings, user);
    this.#inserts = new Inserts(this.#connections, this.#table);
    this.#healthCheck = new HealthCheck(this.#connections, this.#table, this.#warnings);
  }

  newInsert(): PlantInsert {
    return this.#inserts.new();
  }

  page(page: PageRequest, signal: AbortSignal): Promise<readonly NewPlantFields[]> {
    return this.#connections.reads.run(
      (client) => readPage(client, this.#table, this.#warnings, page),
      signal,
    );
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
