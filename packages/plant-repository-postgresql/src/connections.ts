import { ConnectionPool } from './connection-pool.js';
import type { Connecting } from './connection-string.js';

/** The connections of a store, by what they are for. */
export class Connections {
  readonly inserts: ConnectionPool;
  readonly reads: ConnectionPool;
  /** For what responds at once, unless its connection is lost: a second one shows that the server responds. */
  readonly checks: ConnectionPool;
  /** For the write of a check, which waits for locks and standbys as an insert does. */
  readonly writes: ConnectionPool;

  constructor(connecting: Connecting, maxInserts: number) {
    this.inserts = new ConnectionPool(connecting, maxInserts);
    this.reads = new ConnectionPool(connecting, 2);
    this.checks = new ConnectionPool(connecting, 2);
    this.writes = new ConnectionPool(connecting, 1);
  }

  /** Replaces all of them: where a firewall or a failed host has dropped one silently, it has often dropped others. */
  reset(): void {
    for (const it of this.#all) it.reset();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((it) => it.close()));
  }

  get #all(): readonly ConnectionPool[] {
    return [this.inserts, this.reads, this.checks, this.writes];
  }
}
