import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Connections } from './connections.js';
import type { ExaminedTable } from './examined-table.js';
import type { PlantClient } from './plant-store-client.js';
import { readsReachStandby } from './reading.js';
import { PostgresqlError, withServerText } from './server-error.js';
import { IS_ENDED } from './statements.js';

const NEVER = new AbortController().signal;

/**
 * How long the connection of a check, which waits for nothing, may have no reply after a new one has got one: until then,
 * both the server and the network may have stood still.
 */
const LOST_AFTER_MS = 1_000;

/** Checks that plants can be stored, without storing one. */
export class HealthCheck {
  readonly #connections: Connections;
  readonly #table: ExaminedTable;
  /** Begins the writes of checks, so that this instance's are found in `pg_stat_activity`. */
  readonly #writeName = `/* plant-store check ${randomUUID()} */`;
  /** The latest write. No other starts until it has ended, or its connection is lost. */
  #writing: Promise<unknown> | undefined;
  /** Examinations of the table that have no reply yet. */
  readonly #silent = new Set<object>();

  constructor(connections: Connections, table: ExaminedTable) {
    this.#connections = connections;
    this.#table = table;
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      const isStandby = await this.#expectResponse(signal);
      await this.#expectWrite(signal);
      if (isStandby) throw readsReachStandby();
      // Other programs may have taken every other connection of the server.
      await this.#connections.inserts.expectConnection(signal);
      await this.#connections.reads.expectConnection(signal);
    } catch (error) {
      if (error instanceof PostgresqlError) this.#table.warnOf(error);
      throw error;
    }
  }

  /**
   * Examines the table, which waits for no lock and no standby. When the server responds to this, and an earlier check
   * still has no reply, all connections are replaced.
   */
  async #expectResponse(signal: AbortSignal): Promise<boolean> {
    const earlier = [...this.#silent];
    const examination = {};
    const isStandby = await this.#connections.checks.run((client) => {
      this.#silent.add(examination);
      return this.#table.examine(client).finally(() => this.#silent.delete(examination));
    }, signal);
    const isLost = () => earlier.some((it) => this.#silent.has(it));
    if (isLost()) await wait(LOST_AFTER_MS);
    if (isLost()) this.#connections.reset();
    return isStandby;
  }

  /** Rejects when a write is not acknowledged until `signal` aborts. */
  async #expectWrite(signal: AbortSignal): Promise<void> {
    if (this.#writing) await this.#replaceLostWrite(signal);
    signal.throwIfAborted();
    const text = `${this.#writeName} ${this.#table.statements.insertNothing}`;
    const write = (client: PlantClient) =>
      client.query(text).catch((error: unknown) => {
        throw withServerText(error);
      });
    this.#writing ??= this.#connections.writes.run(write, NEVER).finally(() => {
      this.#writing = undefined;
    });
    const late = once(signal, 'abort').then(() => {
      throw new PostgresqlError('writes are not acknowledged in time', { finding: 'slow' });
    });
    await Promise.race([this.#writing, late]);
  }

  /** Closes the connection of an earlier write that has no reply although the server does not carry it out. */
  async #replaceLostWrite(signal: AbortSignal): Promise<void> {
    const look = (client: PlantClient) =>
      client.query<{ ended: boolean }>(IS_ENDED, [this.#writeName]);
    const { rows } = await this.#connections.checks.run(look, signal);
    if (!rows[0]?.ended) return;
    this.#connections.writes.reset();
    await this.#writing?.catch(() => undefined);
  }
}
