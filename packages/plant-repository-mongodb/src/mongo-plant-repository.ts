import {
  type NewPlant,
  type PlantPage,
  type PlantReader,
  type PlantRepository,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import type { MongoClient } from 'mongodb';
import { Availability } from './collection/availability.js';
import { CollectionCheck } from './collection/collection-check.js';
import { MongoPlantCollection } from './collection/mongo-plant-collection.js';
import { toDocument } from './collection/plant-document.js';
import { PlantPages } from './collection/plant-pages.js';
import type { StorageObserver } from './collection/storage-event.js';
import { createMongoClient, databaseOf, shownHosts } from './connection/mongo-client.js';
import type { BatchTracer } from './group-commit/batch-tracer.js';
import { GroupCommit } from './group-commit/group-commit.js';

/** The options of a {@link MongoPlantRepository}. Only `uri` is required. */
export interface MongoPlantRepositoryOptions {
  /** The connection string, `mongodb://` or `mongodb+srv://`. When it names no database, `plant-store` is used. */
  readonly uri: string;
  /** The name of the collection. `plants` by default. */
  readonly collection?: string;
  /**
   * Whether a collection that does not exist is created with its validator. `true` by default. Otherwise `read` rejects
   * when there is none: an empty page would mean that no plant is left.
   */
  readonly createCollection?: boolean;
  /** Receives the events of the storage, for logs and metrics. */
  readonly observer?: StorageObserver;
  /** Shows batches to a tracing system. None by default. */
  readonly tracer?: BatchTracer | undefined;
}

const DATABASE = 'plant-store';
const COLLECTION = 'plants';
const LIMITS = { maxPending: 10_000, batch: { maxItems: 1_000, maxBytes: 2 ** 22 } };

/**
 * Stores plants in MongoDB, acknowledged by a majority and journaled. Concurrent adds share one insert. Connects in
 * the background, so it can be constructed while the database is unreachable.
 */
export class MongoPlantRepository implements PlantRepository, PlantReader {
  readonly #client: MongoClient;
  readonly #availability: Availability;
  readonly #plants: GroupCommit;
  readonly #pages: PlantPages;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** @throws {InvalidMongoUriError} when `uri` is invalid; the message contains no credentials. */
  constructor(options: MongoPlantRepositoryOptions) {
    const { uri, observer = () => undefined } = options;
    const client = createMongoClient(uri);
    const db = client.db(databaseOf(uri) ?? DATABASE);
    const { collection: name = COLLECTION, createCollection: creates = true } = options;
    const check = new CollectionCheck(client, db, { name, creates }, observer);
    const { signal: closing } = this.#closing;
    const hosts = shownHosts(uri, client);
    const availability = new Availability(client, { hosts, check, observer, closing });
    const collection = new MongoPlantCollection(db, name, availability);
    this.#client = client;
    this.#availability = availability;
    this.#plants = new GroupCommit(collection, LIMITS, observer, options.tracer);
    this.#pages = new PlantPages(db, { name, mustExist: !creates }, closing);
  }

  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return this.#plants.add(toDocument(plant), timeLimitMs);
  }

  async read(page: PlantPage, timeLimitMs: number): Promise<readonly NewPlant[]> {
    if (this.#closed) throw new StorageUnavailableError('the storage is closed');
    if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
    try {
      return await this.#pages.read(page, timeLimitMs);
    } catch (error) {
      throw error instanceof UnreadablePlantError ? error : this.#availability.failedRead(error);
    }
  }

  /** Settles within 1.5 seconds. Concurrent calls share one check of the database. */
  async ready(): Promise<void> {
    if (this.#closed) throw new StorageUnavailableError('the storage is closed');
    await this.#availability.ready();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#plants.close();
    this.#closing.abort();
    await this.#client.close();
  }
}
