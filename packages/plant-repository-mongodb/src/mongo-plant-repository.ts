import {
  type BatchTracer,
  type NewPlant,
  type PlantRepository,
  type StorageObserver,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { Db, MongoClient } from 'mongodb';
import { retrySetUp } from './collection/collection-setup.js';
import { LoggedOutConnections } from './collection/logged-out-connections.js';
import { MongoPlantCollection } from './collection/mongo-plant-collection.js';
import { toDocument } from './collection/plant-document.js';
import {
  DENIED,
  NO_CREDENTIALS,
  type StorageWarning,
  StorageWarnings,
} from './collection/storage-warnings.js';
import { explainedError } from './connection/connection-problem.js';
import { DatabaseWatch, type Unreachable } from './connection/database-watch.js';
import { Disclosure } from './connection/disclosure.js';
import { connectionOptionsOf, createMongoClient, databaseOf } from './connection/mongo-client.js';
import { credentialsRefused, hasServerCode, UNAUTHORIZED } from './connection/server-code.js';
import { GroupCommit } from './group-commit/group-commit.js';

/** The options of a {@link MongoPlantRepository}: its database and its limits. Only `uri` is required. */
export interface MongoPlantRepositoryOptions {
  /** The connection string, `mongodb://` or `mongodb+srv://`. When it names no database, `plant-store` is used. */
  readonly uri: string;
  /** The name of the collection. `plants` by default. */
  readonly collection?: string;
  /** The most plants that are being stored at once; further ones are refused. 10,000 by default. */
  readonly maxPending?: number;
  /** The most plants in one insert, up to 100,000. 1,000 by default. */
  readonly maxBatch?: number;
  /** The most bytes in one insert, up to 16 MiB; a single plant may have more. 4 MiB by default. */
  readonly maxBatchBytes?: number;
  /** Receives the events of the storage, for logs and metrics. */
  readonly observer?: StorageObserver;
  /** Shows batches to a tracing system. None by default. */
  readonly tracer?: BatchTracer | undefined;
}

const DATABASE = 'plant-store';
const COLLECTION = 'plants';
const COLLECTION_NAME = /^(?!system\.|\.)[^$\0]+$/;
const READY_TIMEOUT_MS = 1_000;
const LOG_IN_TIMEOUT_MS = 2_000;

/** MongoDB's limit for the name of the database, a dot and the name of the collection together. */
const MAX_NAMESPACE_BYTES = 255;

/** MongoDB's limits for one insert. */
const MAX_BATCH = 100_000;
const MAX_BATCH_BYTES = 2 ** 24;

function checkedCount(name: string, value: number, max: number): number {
  if (Number.isSafeInteger(value) && value > 0 && value <= max) return value;
  throw new RangeError(`${name} must be a whole number from 1 to ${max}`);
}

function checkedCollection(name: string, database: string): string {
  if (!COLLECTION_NAME.test(name)) {
    throw new RangeError('collection must not be empty, hold "$", or begin with "system." or "."');
  }
  if (Buffer.byteLength(`${database}.${name}`) <= MAX_NAMESPACE_BYTES) return name;
  throw new RangeError(
    `database and collection must not exceed ${MAX_NAMESPACE_BYTES} bytes together`,
  );
}

/**
 * Stores plants in MongoDB, acknowledged by a majority and journaled. Concurrent adds share one insert. Connects in
 * the background, so it can be constructed while the database is unreachable.
 */
export class MongoPlantRepository implements PlantRepository {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #disclosure: Disclosure;
  readonly #collection: MongoPlantCollection;
  readonly #plants: GroupCommit;
  readonly #observer: StorageObserver;
  readonly #warnings: StorageWarnings;
  readonly #closing = new AbortController();
  readonly #loggedOut: LoggedOutConnections;
  readonly #database: DatabaseWatch;
  #settingUp: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  /**
   * @throws {InvalidMongoUriError} when `uri` is invalid; the message contains no credentials.
   * @throws {RangeError} when another option is out of its range.
   */
  constructor(options: MongoPlantRepositoryOptions) {
    const { maxPending = 10_000, maxBatch = 1_000, maxBatchBytes = 2 ** 22 } = options;
    const limits = {
      maxPending: checkedCount('maxPending', maxPending, Number.MAX_SAFE_INTEGER),
      batch: {
        maxItems: checkedCount('maxBatch', maxBatch, MAX_BATCH),
        maxBytes: checkedCount('maxBatchBytes', maxBatchBytes, MAX_BATCH_BYTES),
      },
    };
    this.#observer = options.observer ?? (() => undefined);
    this.#warnings = new StorageWarnings(this.#observer);
    this.#client = createMongoClient(options.uri);
    this.#disclosure = new Disclosure(options.uri, this.#client);
    this.#db = this.#client.db(databaseOf(options.uri) ?? DATABASE);
    const name = checkedCollection(options.collection ?? COLLECTION, this.#db.databaseName);
    this.#collection = this.#open(name);
    this.#plants = new GroupCommit(this.#collection, limits, this.#observer, options.tracer);
    this.#loggedOut = new LoggedOutConnections(this.#collection, () =>
      this.#warnings.denied(this.#db.databaseName),
    );
    this.#database = this.#watch(name);
  }

  add(plant: NewPlant, timeLimit: number): Promise<void> {
    return this.#plants.add(toDocument(plant), timeLimit);
  }

  /** Settles within one second. Concurrent calls share one check of the database. */
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
      await this.#collection.check(READY_TIMEOUT_MS);
    } catch (cause) {
      throw this.#unavailable(cause);
    }
  }

  #unavailable(error: unknown): StorageUnavailableError {
    if (hasServerCode(error, UNAUTHORIZED)) {
      this.#unauthorized();
      return new StorageUnavailableError(this.#hasCredentials ? DENIED : NO_CREDENTIALS);
    }
    const { obstacle } = this.#collection;
    const problem = obstacle ?? this.#database.problem ?? error;
    const explanation = explainedError(problem, connectionOptionsOf(this.#client));
    if (credentialsRefused(problem)) return this.#outage('credentials', explanation);
    if (obstacle === undefined) return this.#outage('no server', explanation);
    const cause = this.#disclosure.error(explanation);
    return new StorageUnavailableError('plants are refused', { cause });
  }

  #outage(reason: Unreachable, explanation: Error): StorageUnavailableError {
    const hosts = this.#disclosure.hosts.join(', ');
    const waits = reason === 'no server';
    const problem = waits ? 'is not reachable' : 'refuses the credentials';
    const cause = this.#disclosure.error(explanation);
    return new StorageUnavailableError(`the database at ${hosts} ${problem}`, { cause, waits });
  }

  get #hasCredentials(): boolean {
    return this.#client.options.credentials !== undefined;
  }

  #unauthorized(): void {
    if (this.#hasCredentials) void this.#loggedOut.close();
    else this.#warnings.noCredentials();
  }

  async #close(): Promise<void> {
    await this.#plants.close();
    this.#closing.abort();
    await this.#client.close();
  }

  #open(name: string): MongoPlantCollection {
    return new MongoPlantCollection(this.#client, this.#db, name, {
      unauthorized: () => this.#unauthorized(),
      disclose: (error) => this.#disclosure.error(error),
    });
  }

  #watch(name: string): DatabaseWatch {
    const reachable = (kind: string) => {
      this.#collection.acceptPlants('credentials');
      this.#observer({ type: 'storage reachable' });
      if (kind === 'standalone') this.#warnings.standalone();
      this.#setUp(name);
    };
    const unreachable = (reason: Unreachable, error: Error) => {
      if (reason === 'credentials') this.#collection.refusePlants(reason, error);
      this.#observer({ type: 'storage unreachable', error: this.#outage(reason, error) });
    };
    const logIn = async () => {
      await this.#client.connect();
      await this.#collection.logIn(LOG_IN_TIMEOUT_MS);
    };
    const listener = { reachable, unreachable };
    return new DatabaseWatch(this.#client, logIn, listener, this.#closing.signal);
  }

  #setUp(name: string): void {
    const listener = {
      warn: (warning: StorageWarning) => this.#warnings.report(warning),
      failed: (error: Error) => this.#warnings.notSetUp(this.#disclosure.withoutPorts(error)),
      unusable: (error: Error) => {
        this.#collection.refusePlants('collection', error);
        this.#warnings.unusable(error);
      },
      usable: () => this.#collection.acceptPlants('collection'),
    };
    const { signal } = this.#closing;
    this.#settingUp ??= retrySetUp(this.#db, name, listener, signal).finally(() => {
      this.#settingUp = undefined;
    });
  }
}
