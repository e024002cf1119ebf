import { setTimeout as wait } from 'node:timers/promises';
import { type NewPlant, type PlantRepository, StorageUnavailableError } from '@plant-store/domain';
import type { Db, MongoClient } from 'mongodb';
import { setUpCollection } from './collection-setup.js';
import { DatabaseWatch } from './database-watch.js';
import { GroupCommit } from './group-commit.js';
import { createMongoClient, databaseOf, hostsOf } from './mongo-client.js';
import { MongoPlantCollection } from './mongo-plant-collection.js';
import { toDocument } from './plant-document.js';
import { Readiness } from './readiness.js';
import type { StorageEvent, StorageObserver } from './storage-event.js';

export interface MongoPlantRepositoryOptions {
  /** `mongodb://` or `mongodb+srv://`. The database is the one it names, otherwise `plant-store`. */
  readonly uri: string;
  /** Default `plants`. */
  readonly collection?: string;
  /** Plants waiting to be stored at once; further ones are turned away. Default 10,000. */
  readonly maxPending?: number;
  /** Plants in one insert. Default 1,000. */
  readonly maxBatch?: number;
  /** Bytes in one insert, unless a single plant has more. Default 4 MiB. */
  readonly maxBatchBytes?: number;
  readonly observer?: StorageObserver;
}

const DATABASE = 'plant-store';
const COLLECTION = 'plants';
const COLLECTION_NAME = /^(?!system\.)[^$\0]+$/;
const READY_WITHIN = 1_000;
const SET_UP_AGAIN_AFTER = 1_000;
const STANDALONE =
  'the server is a standalone one: it keeps no second copy. Run a replica set to lose nothing';
const DENIED = 'plants are turned away: the rights do not suffice to read and insert them';

/** What MongoDB takes at the most in one insert. */
const MOST_BATCH = 100_000;
const MOST_BATCH_BYTES = 2 ** 24;

function checkedCount(name: string, value: number, most: number): number {
  if (Number.isSafeInteger(value) && value > 0 && value <= most) return value;
  throw new RangeError(`${name} must be a whole number from 1 to ${most}`);
}

function checkedCollection(name: string): string {
  if (COLLECTION_NAME.test(name)) return name;
  throw new RangeError('collection must not be empty, hold "$", or begin with "system."');
}

/**
 * Keeps plants in MongoDB, acknowledged by a majority and journalled. Plants added at the same
 * time share one insert. Needs no database to be constructed: it connects in the background.
 */
export class MongoPlantRepository implements PlantRepository {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #collection: string;
  readonly #plants: GroupCommit;
  readonly #readiness: Readiness;
  readonly #observer: StorageObserver | undefined;
  readonly #closing = new AbortController();
  readonly #warned = new Set<string>();
  #settingUp = false;
  #closed: Promise<void> | undefined;

  /**
   * @throws {InvalidMongoUriError} when `uri` is no connection string; never with its credentials.
   * @throws {RangeError} when another option is out of its range.
   */
  constructor(options: MongoPlantRepositoryOptions) {
    const { maxPending = 10_000, maxBatch = 1_000, maxBatchBytes = 2 ** 22 } = options;
    const items = checkedCount('maxBatch', maxBatch, MOST_BATCH);
    const bytes = checkedCount('maxBatchBytes', maxBatchBytes, MOST_BATCH_BYTES);
    const pending = checkedCount('maxPending', maxPending, Number.MAX_SAFE_INTEGER);
    this.#collection = checkedCollection(options.collection ?? COLLECTION);
    this.#observer = options.observer;
    this.#client = createMongoClient(options.uri);
    this.#db = this.#client.db(databaseOf(options.uri) ?? DATABASE);
    const collection = new MongoPlantCollection(this.#client, this.#db, this.#collection);
    this.#readiness = new Readiness(() => collection.marks([], READY_WITHIN));
    const limits = { pending, batch: { items, bytes } };
    this.#plants = new GroupCommit(collection, limits, (event) => this.#observe(event));
    const hosts = hostsOf(this.#client);
    const listener = {
      reachable: (kind: string) => this.#reachable(kind),
      unreachable: (cause?: Error) => this.#observe({ type: 'storage unreachable', hosts, cause }),
    };
    new DatabaseWatch(this.#client, listener, this.#closing.signal);
  }

  add(plant: NewPlant, timeLimit: number): Promise<void> {
    return this.#plants.add(toDocument(plant), timeLimit);
  }

  async ready(): Promise<void> {
    if (this.#closed) throw new StorageUnavailableError('the storage is closed');
    await this.#readiness.check();
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

  #reachable(kind: string): void {
    this.#observe({ type: 'storage reachable' });
    if (kind === 'standalone') this.#warn(STANDALONE);
    void this.#setUp();
  }

  /** Adds do not wait for it: until it is done, the types alone keep the documents in shape. */
  async #setUp(): Promise<void> {
    if (this.#settingUp) return;
    this.#settingUp = true;
    while (!this.#closing.signal.aborted) {
      try {
        const warning = await setUpCollection(this.#db, this.#collection, this.#closing.signal);
        if (warning) this.#warn(warning.message, warning.command);
        break;
      } catch (error) {
        if (this.#closing.signal.aborted) break;
        this.#warn(
          `the collection is not set up yet: ${error instanceof Error ? error.message : error}`,
        );
        const options = { signal: this.#closing.signal };
        await wait(SET_UP_AGAIN_AFTER, undefined, options).catch(() => undefined);
      }
    }
    this.#settingUp = false;
  }

  #observe(event: StorageEvent): void {
    this.#observer?.(event);
    if (event.type !== 'batch inserted' || !event.outcomes.has('denied')) return;
    const role = JSON.stringify([{ role: 'readWrite', db: this.#db.databaseName }]);
    this.#warn(DENIED, `db.grantRolesToUser('<the user of the service>', ${role})`);
  }

  #warn(message: string, command?: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const more = command === undefined ? {} : { command };
    this.#observer?.({ type: 'storage warning', message, ...more });
  }
}
