import { type NewPlant, type PlantRepository, StoreUnavailableError } from '@plant-store/domain';
import { Long, MongoServerError } from 'mongodb';
import { MongoConnection } from './mongo-connection.js';
import { NumberedInsert } from './numbered-insert.js';

/** Each insert in flight takes a connection: this bounds both. */
const MAX_POOL_SIZE = 20;
const READY_WITHIN_MS = 1_900;
/** Shorter, so the server reports the reason before we give up. */
const CONFIRMED_WITHIN_MS = 1_000;
const UNAUTHORIZED = 13;

/**
 * Stores plants in a MongoDB replica set, each with an insert of its own that a majority acknowledges and journals.
 *
 * @example
 * ```ts
 * import { newPlant } from '@plant-store/domain';
 * import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
 *
 * const plants = new MongoPlantRepository('mongodb://127.0.0.1:27017/?replicaSet=plants');
 * await plants.add(newPlant({ id: 1n, name: 'Monstera' }), 15_000);
 * await plants.close();
 * ```
 */
export class MongoPlantRepository implements PlantRepository {
  readonly #connection: MongoConnection;
  readonly #collection: string;
  readonly #adding = new Set<Promise<void>>();
  #lastNumber = 0;
  #isClosed = false;

  /**
   * Connects when it is first used, or later if there is no server yet.
   *
   * @param uri The connection string. When it names no database, `plant-store` is used.
   * @throws {InvalidMongoUriError} when it is invalid; the message contains no credentials.
   */
  constructor(uri: string, collection = 'plants') {
    this.#connection = new MongoConnection(uri, MAX_POOL_SIZE);
    this.#collection = collection;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    this.#lastNumber += 1;
    const insert = new NumberedInsert(this.#connection, this.#collection, plant, this.#lastNumber);
    const adding = insert.store(timeLimitMs);
    this.#adding.add(adding);
    await adding.finally(() => this.#adding.delete(adding));
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    await this.#connection
      .abortAfter(READY_WITHIN_MS, (it) => this.#check(it))
      .catch((error) => {
        const cause = this.#connection.explain(error);
        const isSilent = cause.finding === 'unreachable' || cause.finding === 'no response';
        const problem = isSilent ? 'is not reachable' : 'accepts no plants';
        const message = `the database at ${this.#connection.hosts} ${problem}`;
        throw new StoreUnavailableError(message, { cause });
      });
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { db } = this.#connection;
    const maxTimeMS = CONFIRMED_WITHIN_MS;
    try {
      const find = { find: this.#collection, filter: { _id: Long.ZERO }, limit: 1, maxTimeMS };
      // A majority must confirm this read.
      await db.command({ ...find, readConcern: { level: 'linearizable' } }, { signal });
      // Refused if the user may not insert. Otherwise the reply lists a write error, because no `_id` may be an array.
      const insert = { insert: this.#collection, documents: [{ _id: [] }], maxTimeMS };
      await db.command({ ...insert, writeConcern: MongoConnection.DURABLE }, { signal });
    } catch (error) {
      // A user that an administrator has created again must log in again. Closing would end the session of an insert.
      const isLoggedOut = error instanceof MongoServerError && error.code === UNAUTHORIZED;
      if (isLoggedOut && this.#adding.size === 0) await db.client.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#adding);
    await this.#connection.close();
  }

  #expectOpen(): void {
    if (this.#isClosed) throw new StoreUnavailableError('the store is closed');
  }
}
