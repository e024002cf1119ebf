import { setTimeout as wait } from 'node:timers/promises';
import type { ConnectionPool } from './connection-pool.js';
import type { Connections } from './connections.js';
import type { ExaminedTable } from './examined-table.js';
import type { PlantClient } from './plant-store-client.js';
import { readsReachStandby } from './reading.js';
import { PostgresqlError, withServerText } from './server-error.js';

/**
 * How long a statement may have no reply after a later one has got its own: until then, both the server and the network
 * may have stood still.
 */
const LOST_AFTER_MS = 1_000;

/** Checks that plants can be stored, without storing one. */
export class HealthCheck {
  readonly #connections: Connections;
  readonly #table: ExaminedTable;
  /** Statements that have no reply yet. */
  readonly #silent = new Set<{ readonly pool: ConnectionPool }>();

  constructor(connections: Connections, table: ExaminedTable) {
    this.#connections = connections;
    this.#table = table;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { inserts, reads, examinations, writes } = this.#connections;
    try {
      const isStandby = await this.#run(examinations, (it) => this.#table.examine(it), signal);
      signal.throwIfAborted();
      await this.#run(writes, (it) => this.#write(it), signal).catch((error: unknown) => {
        if (error !== signal.reason) throw error;
        throw new PostgresqlError('writes are not acknowledged in time', { finding: 'slow' });
      });
      if (isStandby) throw readsReachStandby();
      // Other programs may have taken every other connection of the server.
      await inserts.expectConnection(signal);
      await reads.expectConnection(signal);
    } catch (error) {
      if (error instanceof PostgresqlError) this.#table.warnOf(error);
      throw error;
    }
  }

  /** Runs a statement. If it gets its reply before an earlier one of its pool does, all connections are replaced. */
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
    const isOvertaken = () => earlier.some((it) => this.#silent.has(it));
    if (isOvertaken()) await wait(LOST_AFTER_MS);
    if (isOvertaken()) this.#connections.reset();
    return result;
  }

  async #write(client: PlantClient): Promise<void> {
    await client.query(this.#table.statements.insertNothing).catch((error: unknown) => {
      throw withServerText(error);
    });
  }
}
