import { MAX_POOL_SIZE } from '../connection/mongo-client.js';
import type { MongoPlantCollection } from './mongo-plant-collection.js';

const TIME_LIMIT_MS = 2_000;
const AGAIN_AFTER_MS = 1_000;

/**
 * Finds out why a server reports that the permissions do not suffice. MongoDB reports the same when
 * the user was removed, and goes on doing so on the open connections when the user is created again:
 * those connections are closed, so that new ones show whether the credentials are valid.
 */
export class LoggedOutConnections {
  readonly #collection: MongoPlantCollection;
  readonly #lacking: () => void;
  #closing = false;
  #closedAt = Number.NEGATIVE_INFINITY;

  /** @param lacking Is called when the user is logged in, so that it is the permissions. */
  constructor(collection: MongoPlantCollection, lacking: () => void) {
    this.#collection = collection;
    this.#lacking = lacking;
  }

  /** To be called for each such reply; acts at most once a second. */
  async close(): Promise<void> {
    if (this.#closing || performance.now() < this.#closedAt + AGAIN_AFTER_MS) return;
    this.#closing = true;
    // When it fails, the watch of the database reports why.
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
    // Not even a new connection shows a user: the server does not report it.
    this.#lacking();
  }
}
