import type { Warnings } from '@plant-store/plant-repository-group-commit';
import type { ConnectionPool } from './connection-pool.js';
import type { Connections } from './connections.js';
import type { ExaminedTable } from './examined-table.js';
import { readsReachStandby } from './look-up.js';
import type { PlantClient } from './plant-store-client.js';
import { PostgresqlStoreError, rejectWithServerText } from './postgresql-error.js';

/**
 * How long a statement may have no reply after a later one has got its own: until then, both the server and the network
 * may have stood still.
 */
const LOST_AFTER_MS = 1_000;

/** A statement of a check that has no reply yet. */
interface SilentStatement {
  readonly pool: ConnectionPool;
  /** When a later statement of its pool got its reply. */
  overtakenAt?: number;
}

/** Checks that plants can be stored, without storing one. */
export class HealthCheck {
  readonly #connections: Connections;
  readonly #table: ExaminedTable;
  readonly #warnings: Warnings;
  readonly #silent = new Set<SilentStatement>();

  constructor(connections: Connections, table: ExaminedTable, warnings: Warnings) {
    this.#connections = connections;
    this.#table = table;
    this.#warnings = warnings;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { inserts, reads, checkReads, checkWrites } = this.#connections;
    try {
      const isStandby = await this.#run(checkReads, (it) => this.#table.examine(it), signal);
      signal.throwIfAborted();
      const write = (client: PlantClient) =>
        client.query(this.#table.statements.insertNothing).catch(rejectWithServerText);
      await this.#run(checkWrites, write, signal).catch((error: unknown) => {
        if (error !== signal.reason) throw error;
        throw new PostgresqlStoreError('slow', 'writes are not acknowledged in time');
      });
      if (isStandby) throw readsReachStandby();
      // Other programs may have taken every other connection of the server.
      await inserts.expectConnection(signal);
      await reads.expectConnection(signal);
    } catch (error) {
      const command = error instanceof PostgresqlStoreError && error.facts.command;
      if (command) this.#warnings.report(error.message, command);
      throw error;
    } finally {
      // Not before: the next statement of this check would fail.
      if (this.#hasLostReply()) await this.#connections.reset();
    }
  }

  /** Runs a statement. Its reply overtakes the earlier statements of its pool that have none. */
  async #run<T>(
    pool: ConnectionPool,
    work: (client: PlantClient) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const earlier = [...this.#silent].filter((it) => it.pool === pool);
    const statement = { pool };
    const result = await pool.run((client) => {
      this.#silent.add(statement);
      return work(client).finally(() => this.#silent.delete(statement));
    }, signal);
    for (const it of earlier) it.overtakenAt ??= performance.now();
    return result;
  }

  #hasLostReply(): boolean {
    const now = performance.now();
    return [...this.#silent].some(({ overtakenAt = now }) => now - overtakenAt >= LOST_AFTER_MS);
  }
}
