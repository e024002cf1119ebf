import { isDeepStrictEqual } from 'node:util';
import { NoResponseError, type StorageObserver } from '@plant-store/plant-repository-group-commit';
import { type Db, type Document, type MongoClient, MongoServerError } from 'mongodb';
import {
  codeOf,
  RefusingDatabaseError,
  SLOW,
  SlowWriteError,
  UNAUTHORIZED,
} from '../connection/server-code.js';
import { DURABLE } from './plant-document.js';
import { may } from './privileges.js';

const NAMESPACE_EXISTS = 48;

/** Less than the time limit of a check, so that the server says why it cannot write, and ends the command. */
const WRITE_TIMEOUT_MS = 1_000;

/** Connections that are closed by one check when the user was logged out. The next check closes further ones. */
const CLOSED_AT_ONCE = 16;

const NO_CREDENTIALS = 'the server asks for credentials, and the connection string has none';
const DENIED = 'the permissions to read and insert them are missing';
const UNPERMITTED =
  'the collection cannot be looked up or created with its validator: the permission is missing';
const ABSENT = 'the collection does not exist yet: the service creates it when it starts';
const OTHER_VALIDATOR =
  'the collection does not have the validator of this service, and may refuse plants or accept others';

/**
 * Allows further fields, because during a rolling update older and newer instances of the service write to
 * one collection.
 */
const VALIDATION = {
  validator: {
    $jsonSchema: {
      bsonType: 'object',
      required: ['_id', 'name', 'mark'],
      properties: {
        _id: { bsonType: 'long' },
        name: { bsonType: 'string' },
        tag: { bsonType: 'string' },
        mark: { bsonType: 'objectId' },
      },
    },
  },
  validationLevel: 'strict',
  validationAction: 'error',
};

/** Changes nothing, but waits like an insert: for locks, the journal and a majority. */
function noWrite(name: string): Document {
  const updates = [{ q: { _id: { $in: [] } }, u: { $unset: { none: 1 } }, multi: true }];
  return { update: name, updates, writeConcern: DURABLE, maxTimeMS: WRITE_TIMEOUT_MS };
}

/**
 * Checks that the collection stores plants, and may create it with its validator when there is none. Writes no document.
 */
export class CollectionCheck {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #name: string;
  readonly #creates: boolean;
  readonly #observe: StorageObserver;
  readonly #reported = new Set<string>();

  /**
   * @param collection Its name, and whether to create it.
   * @param observe Receives what an administrator should know, each once.
   */
  constructor(
    client: MongoClient,
    db: Db,
    { name, creates }: { readonly name: string; readonly creates: boolean },
    observe: StorageObserver,
  ) {
    this.#client = client;
    this.#db = db;
    this.#name = name;
    this.#creates = creates;
    this.#observe = observe;
  }

  /** Rejects with {@link RefusingDatabaseError}, with {@link SlowWriteError}, with the error of the driver, or with the reason of the signal. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await connect(this.#client, signal);
      const status = await this.#loggedInStatus(signal);
      // At the same time, because each takes a round trip. The first one explains more.
      const parts = [this.#setUp(status, signal), this.#write(status, signal)];
      for (const it of await Promise.allSettled(parts)) {
        if (it.status === 'rejected') throw it.reason;
      }
    } catch (error) {
      if (codeOf(error) !== UNAUTHORIZED) throw error;
      throw new RefusingDatabaseError(this.#hasCredentials ? DENIED : NO_CREDENTIALS);
    }
  }

  get #hasCredentials(): boolean {
    return this.#client.options.credentials !== undefined;
  }

  /**
   * A user that was removed is logged out of every open connection, and stays so when it is created again. New
   * connections show whether the credentials are valid.
   */
  async #loggedInStatus(signal: AbortSignal): Promise<Document> {
    const command = { connectionStatus: 1, showPrivileges: true };
    const status = await this.#command(command, signal);
    if (!this.#hasCredentials || status.authInfo?.authenticatedUsers?.length !== 0) return status;
    await closeConnections(this.#db, signal);
    return this.#command(command, signal);
  }

  /** A user that may only insert and read cannot update: then its privileges show whether it may do so. */
  async #write(status: Document, signal: AbortSignal): Promise<void> {
    if (this.#may('update', status)) {
      await this.#updateNothing(signal).catch((error: unknown) => {
        if (codeOf(error) !== UNAUTHORIZED || !this.#hasCredentials) throw error;
      });
    }
    const isPermitted = this.#may('find', status) && this.#may('insert', status);
    if (!isPermitted) throw new RefusingDatabaseError(DENIED);
  }

  #may(action: string, status: Document, collection = this.#name): boolean {
    return may(action, status, this.#db.databaseName, collection);
  }

  /** A router reports the errors of its shards for each update. */
  async #updateNothing(signal: AbortSignal): Promise<void> {
    const { writeErrors = [] } = await this.#command(noWrite(this.#name), signal).catch(slowly);
    if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
  }

  /** In each check: an insert creates a collection that was dropped, without a validator. */
  async #setUp(status: Document, signal: AbortSignal): Promise<void> {
    const create = { create: this.#name, ...VALIDATION };
    if (!this.#may('listCollections', status, '')) return this.warn(UNPERMITTED, create);
    try {
      if (await this.#exists(signal)) return;
      await this.#expectUniqueDatabase(signal);
      if (!this.#creates) return this.warn(ABSENT, create);
      const limits = { writeConcern: { w: 'majority' }, maxTimeMS: WRITE_TIMEOUT_MS };
      await this.#command({ ...create, ...limits }, signal);
    } catch (error) {
      // Another instance may have created it meanwhile.
      if (codeOf(error) === NAMESPACE_EXISTS) await this.#exists(signal);
      else if (codeOf(error) !== UNAUTHORIZED || !this.#hasCredentials) throw error;
      else this.warn(UNPERMITTED, create);
    }
  }

  /** Rejects when the server would not create the database, because another one has its name in another case. */
  async #expectUniqueDatabase(signal: AbortSignal): Promise<void> {
    const list = { listDatabases: 1, nameOnly: true, authorizedDatabases: true };
    const admin = this.#client.db('admin');
    const { databases } = await admin.command(list, { signal });
    const own = this.#db.databaseName;
    for (const { name } of databases) {
      if (name === own || name.toLowerCase() !== own.toLowerCase()) continue;
      throw new RefusingDatabaseError(
        `the database "${name}" exists, and MongoDB refuses a name that differs only in case`,
      );
    }
  }

  /** Resolves with whether the collection exists. Rejects when it does not keep what it acknowledges. */
  async #exists(signal: AbortSignal): Promise<boolean> {
    const list = { listCollections: 1, filter: { name: this.#name } };
    const { cursor } = await this.#command(list, signal);
    const [collection] = cursor.firstBatch;
    if (collection === undefined) return false;
    const { type = 'collection', options = {} } = collection;
    const kind = options.capped ? 'capped collection' : type;
    if (kind !== 'collection') {
      throw new RefusingDatabaseError(`"${this.#name}" is a ${kind}, not a collection`);
    }
    const isOwn = isDeepStrictEqual(withoutDescriptions(options.validator), VALIDATION.validator);
    if (isOwn) this.#reported.delete(OTHER_VALIDATOR);
    else this.warn(OTHER_VALIDATOR, { collMod: this.#name, ...VALIDATION });
    return true;
  }

  /** Reports what an administrator should know, once. */
  warn(message: string, step?: Document): void {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    const command =
      step && `db.getSiblingDB('${this.#db.databaseName}').runCommand(${JSON.stringify(step)})`;
    this.#observe({ type: 'storage warning', message, ...(command && { command }) });
  }

  #command(command: Document, signal: AbortSignal): Promise<Document> {
    return this.#db.command(command, { signal });
  }
}

/** Rejects with {@link SlowWriteError} when a write was not acknowledged in time by a server that responds. */
function slowly(error: unknown): never {
  const isSlow = codeOf(error) === SLOW || error instanceof NoResponseError;
  throw isSlow ? new SlowWriteError() : error;
}

/** Earlier versions of the service described their validator. */
function withoutDescriptions(validator: unknown): unknown {
  return JSON.parse(
    JSON.stringify(validator ?? null, (key, value) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    ),
  );
}

/** A client that could not connect does not try it again by itself. Resolves at once when it is connected. */
async function connect(client: MongoClient, signal: AbortSignal): Promise<void> {
  const aborted = new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  await Promise.race([client.connect(), aborted]);
}

/** Closes idle connections of the pool: aborting a command that is being sent closes its connection. */
async function closeConnections(db: Db, signal: AbortSignal): Promise<void> {
  const pings = Array.from({ length: CLOSED_AT_ONCE }, () => {
    const ping = new AbortController();
    // Serialized immediately before the command is sent.
    const abort = { toBSON: () => ping.abort() };
    const options = { signal: AbortSignal.any([signal, ping.signal]) };
    return db.command({ ping: 1, comment: { abort } }, options);
  });
  await Promise.allSettled(pings);
}
