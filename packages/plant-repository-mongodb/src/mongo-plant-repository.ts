import { type NewPlant, type PlantRepository, StorageUnavailableError } from '@plant-store/domain';
import type { Db, MongoClient } from 'mongodb';
import { keepSettingUp } from './collection-setup.js';
import { connectionProblem, credentialsRefused } from './connection-problem.js';
import { type DatabaseState, watchDatabase } from './database-watch.js';
import { GroupCommit } from './group-commit.js';
import { connectionOptionsOf, createMongoClient, databaseOf, hostsOf } from './mongo-client.js';
import { MongoPlantCollection } from './mongo-plant-collection.js';
import { toDocument } from './plant-document.js';
import { hasServerCode, UNAUTHORIZED } from './server-code.js';
import type { StorageEvent, StorageObserver } from './storage-event.js';
import { StorageWarnings } from './storage-warnings.js';

/** Where plants are kept, and how many at once. Everything but `uri` has a default. */
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
  /** Is told what happens to the storage, for logs and metrics. Default: nobody. */
  readonly observer?: StorageObserver;
}

const DATABASE = 'plant-store';
const COLLECTION = 'plants';
const COLLECTION_NAME = /^(?!system\.)[^$\0]+$/;
const READY_WITHIN_MS = 1_000;

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
  readonly #collection: MongoPlantCollection;
  readonly #plants: GroupCommit;
  readonly #observer: StorageObserver;
  readonly #warnings: StorageWarnings;
  readonly #closing = new AbortController();
  readonly #database: DatabaseState;
  #settingUp: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
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
    const name = checkedCollection(options.collection ?? COLLECTION);
    this.#observer = options.observer ?? (() => undefined);
    this.#warnings = new StorageWarnings(this.#observer);
    this.#client = createMongoClient(options.uri);
    this.#db = this.#client.db(databaseOf(options.uri) ?? DATABASE);
    this.#collection = new MongoPlantCollection(this.#client, this.#db, name);
    const limits = { pending, batch: { items, bytes } };
    this.#plants = new GroupCommit(this.#collection, limits, (event) => this.#observe(event));
    this.#database = this.#watch(name);
  }

  add(plant: NewPlant, timeLimit: number): Promise<void> {
    return this.#plants.add(toDocument(plant), timeLimit);
  }

  /** As the port says, within a second. Calls at the same time share one question to the database. */
  async ready(): Promise<void> {
    if (this.#closed) throw new StorageUnavailableError('the storage is closed');
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #check(): Promise<void> {
    try {
      await this.#collection.check(READY_WITHIN_MS);
    } catch (cause) {
      throw this.#unavailable(cause);
    }
  }

  #unavailable(error: unknown): StorageUnavailableError {
    const place = `the database at ${hostsOf(this.#client).join(', ')}`;
    if (hasServerCode(error, UNAUTHORIZED)) {
      this.#warnings.denied(this.#db.databaseName);
      const { credentials } = this.#client.options;
      const cause = new Error(
        credentials
          ? `the user must have readWrite on ${this.#db.databaseName}`
          : 'the connection string names no user',
      );
      return new StorageUnavailableError(`${place} denies permission`, { cause });
    }
    const refused = credentialsRefused(error);
    const options = connectionOptionsOf(this.#client);
    const known = refused ? undefined : this.#database.problem;
    const cause = known ?? new Error(connectionProblem(error, options));
    return new StorageUnavailableError(`${place} is not reachable`, { cause, waits: !refused });
  }

  async #close(): Promise<void> {
    await this.#plants.close();
    this.#closing.abort();
    await this.#client.close();
  }

  #watch(name: string): DatabaseState {
    const hosts = hostsOf(this.#client);
    const reachable = (kind: string) => {
      this.#observer({ type: 'storage reachable' });
      if (kind === 'standalone') this.#warnings.standalone();
      this.#setUp(name);
    };
    const unreachable = (cause: Error) =>
      this.#observer({ type: 'storage unreachable', hosts, cause });
    return watchDatabase(this.#client, { reachable, unreachable }, this.#closing.signal);
  }

  #setUp(name: string): void {
    const warn = this.#warnings.tell.bind(this.#warnings);
    this.#settingUp ??= keepSettingUp(this.#db, name, warn, this.#closing.signal).finally(() => {
      this.#settingUp = undefined;
    });
  }

  #observe(event: StorageEvent): void {
    this.#observer(event);
    if (event.type !== 'batch inserted' || !event.outcomes.has('denied')) return;
    this.#warnings.denied(this.#db.databaseName);
  }
}
