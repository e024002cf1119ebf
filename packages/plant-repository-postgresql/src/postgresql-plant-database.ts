import { randomUUID } from 'node:crypto';
import type { NewPlantFields, PageRequest } from '@plant-store/domain';
import type {
  Explanation,
  InsertResult,
  PlantBatch,
  PlantDatabase,
  StoreObserver,
} from '@plant-store/plant-repository-group-commit';
import { Client } from 'pg';
import { Connections } from './connections.js';
import { ExaminedTable } from './examined-table.js';
import { HealthCheck } from './health-check.js';
import { Inserts } from './inserts.js';
import { type Found, lookUp } from './look-up.js';
import type { PlantClient } from './plant-store-client.js';
import { StoreError } from './postgresql-error.js';
import { readPage } from './postgresql-page.js';
import { Warnings } from './warnings.js';

/** The table `plants` of a PostgreSQL database. */
export class PostgresqlPlantDatabase implements PlantDatabase {
  readonly place: string;
  readonly limits = { ordinary: 6, suspects: 4, stragglers: 0 };
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
      this.limits.ordinary + this.limits.suspects,
    );
    this.#warnings = new Warnings(user, observe);
    this.#table = new ExaminedTable(this.#warnings);
    this.#inserts = new Inserts(this.#connections, this.#table);
    this.#healthCheck = new HealthCheck(this.#connections, this.#table, this.#warnings);
  }

  newMark(): string {
    return randomUUID();
  }

  insert(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult> {
    return this.#inserts.run(batch, signal);
  }

  async committedMarks(ids: readonly bigint[], signal: AbortSignal): Promise<Found['marks']> {
    const look = (client: PlantClient) => lookUp(client, ids);
    const { reads } = this.#connections;
    return (await reads.run(look, signal, () => this.#connections.reset())).marks;
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
    const finding = error instanceof StoreError ? error.finding : 'no server';
    return { finding, cause: error instanceof Error ? error : new Error(`${error}`) };
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}
