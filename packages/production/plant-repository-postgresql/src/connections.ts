import { ConnectionPool } from './connection-pool.js';

/** The connections of a store, by what they are for. */
export class Connections {
  readonly inserts: ConnectionPool;
  readonly reads: ConnectionPool;
  /** For reads of a check, which wait for nothing. Two of each kind: if one is lost silently, the other shows it. */
  readonly checkReads: ConnectionPool;
  /** For writes of a check, which wait for locks and standbys as an insert does. */
  readonly checkWrites: ConnectionPool;

  constructor(connectionString: string, maxInserts: number) {
    this.inserts = new ConnectionPool(connectionString, maxInserts);
    this.reads = new ConnectionPool(connectionString, 2);
    this.checkReads = new ConnectionPool(connectionString, 2);
    this.checkWrites = new ConnectionPool(connectionString, 2);
  }

  /** Replaces all of them: where a firewall or a failed host has dropped one silently, it has often dropped others. */
  async reset(): Promise<void> {
    await Promise.all(this.#all.map((it) => it.reset()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((it) => it.close()));
  }

  get #all(): readonly ConnectionPool[] {
    return [this.inserts, this.reads, this.checkReads, this.checkWrites];
  }
}
