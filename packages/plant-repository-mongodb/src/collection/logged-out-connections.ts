import { MAX_POOL_SIZE } from '../connection/mongo-client.js';
import type { MongoPlantCollection } from './mongo-plant-collection.js';

type Connections = Pick<MongoPlantCollection, 'isLoggedIn' | 'closeConnection'>;

const TIME_LIMIT_MS = 2_000;
const MIN_INTERVAL_MS = 1_000;

/**
 * Closes the connections on which the user is logged out. MongoDB reports missing permissions when the user
 * was removed, and keeps reporting them on open connections when the user is created again. New connections
 * show whether the credentials are valid or the permissions are really missing.
 */
export class LoggedOutConnections {
  readonly #collection: Connections;
  readonly #lacking: () => void;
  #closing = false;
  #closedAt = Number.NEGATIVE_INFINITY;

  /** @param lacking Called when the user is logged in, so that permissions are missing. */
  constructor(collection: Connections, lacking: () => void) {
    this.#collection = collection;
    this.#lacking = lacking;
  }

  /** Checks and closes connections, at most once a second. To be called when a reply reports missing permissions. */
  async close(): Promise<void> {
    if (this.#closing || performance.now() < this.#closedAt + MIN_INTERVAL_MS) return;
    this.#closing = true;
    // DatabaseWatch reports why this fails.
    await this.#closeAll().catch(() => undefined);
    this.#closing = false;
    this.#closedAt = performance.now();
  }

  async #closeAll(): Promise<void> {
    for (let closed = 0; closed < MAX_POOL_SIZE; closed += 1) {
      if (await this.#collection.isLoggedIn(TIME_LIMIT_MS)) {
        if (closed === 0) this.#lacking();
        return;
      }
      await this.#collection.closeConnection();
    }
    // The server reports no user even on new connections.
    this.#lacking();
  }
}
