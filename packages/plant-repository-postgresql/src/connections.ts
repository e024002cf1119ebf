import { ConnectionPool } from './connection-pool.js';
import type { Connecting } from './connection-string.js';

/** The connections of a store, by what they are for. */
export class Connections {
  readonly inserts: ConnectionPool;
  readonly reads: ConnectionPool;
  /** Two of each kind for checks: if one is lost silently, the other shows it. An examination waits for nothing. */
  readonly examinations: ConnectionPool;
  /** For writes, which wait for locks and standbys as an insert does. */
  readonly writes: ConnectionPool;

  constructor(connecting: Connecting, maxInserts: number) {
    this.inserts = new ConnectionPool(connecting, maxInserts);
    this.reads = new ConnectionPool(connecting, 2);
    this.examinations = new ConnectionPool(connecting, 2);
    this.writes = new ConnectionPool(connecting, 2);
  }

  /** Replaces all of them: where a firewall or a failed host has dropped one silently, it has often dropped others. */
  reset(): void {
    for (const it of this.#all) it.reset();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((it) => it.close()));
  }

  get #all(): readonly ConnectionPool[] {
    return [this.inserts, this.reads, this.examinations, this.writes];
  }
}
