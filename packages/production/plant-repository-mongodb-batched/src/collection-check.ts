import { NoResponseError, type Warnings } from '@plant-store/plant-repository-group-commit';
import { MongoConnection, MongoStoreError } from '@plant-store/plant-repository-mongodb';
import { type Db, type Document, MongoServerError } from 'mongodb';
import { confirmedTime } from './mongo-page.js';
import { isOwnValidator, refusalOfEveryPlant, VALIDATION } from './validation.js';

/** Error codes of a server. */
const UNAUTHORIZED = 13;
const NAMESPACE_EXISTS = 48;
const MAX_TIME_MS_EXPIRED = 50;

/** Less than the time limit of a check, so that the server reports why it cannot write, and ends the command. */
const WRITE_TIMEOUT_MS = 1_000;

const UNPERMITTED =
  'the user lacks the permission to look up the collection, or to create it with its validator';
const ABSENT = 'the collection does not exist yet: the service creates it when it starts';
const OTHER_VALIDATOR =
  'the collection does not have the validator of this service, so it may reject valid plants or accept other documents';

/** The name of the collection, and whether to create it when it does not exist. */
export interface CollectionOptions {
  readonly collection: string;
  readonly createCollection: boolean;
}

/** Checks that the collection can store plants, without writing a document. */
export class CollectionCheck {
  readonly #connection: Pick<MongoConnection, 'connect' | 'db'>;
  readonly #options: CollectionOptions;
  readonly #warnings: Warnings;

  constructor(
    connection: Pick<MongoConnection, 'connect' | 'db'>,
    options: CollectionOptions,
    warnings: Warnings,
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#warnings = warnings;
  }

  get #db(): Db {
    return this.#connection.db;
  }

  /** Rejects with a `MongoStoreError`, with the error of the driver, or with the reason of the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const permits = await this.#permissions(signal);
    await this.#setUp(permits, signal);
    await this.#expectWritable(permits, signal);
  }

  /** Rejects if there is no collection: an empty page would mean that no plant is left. Needs only permission to read it. */
  async expectCollection(signal: AbortSignal): Promise<void> {
    if (await this.#find(signal, { nameOnly: true, authorizedCollections: true })) return;
    const name = `${this.#db.databaseName}.${this.#options.collection}`;
    throw new MongoStoreError('unusable', `the collection does not exist: ${name}`);
  }

  /**
   * Resolves with what the user may do. A user that was removed is logged out of every open connection, and stays so when
   * an administrator creates it again: then new connections show whether the credentials are valid.
   */
  async #permissions(signal: AbortSignal): Promise<Permissions> {
    const { client, databaseName } = this.#db;
    let { authInfo } = await this.#status(signal);
    if (client.options.credentials && authInfo?.authenticatedUsers?.length === 0) {
      await client.close();
      ({ authInfo } = await this.#status(signal));
    }
    return permissionsIn(databaseName, authInfo);
  }

  async #status(signal: AbortSignal): Promise<Document> {
    await this.#connection.connect(signal);
    return this.#command({ connectionStatus: 1, showPrivileges: true }, signal);
  }

  /** In each check: an insert creates a collection that was dropped, without a validator. */
  async #setUp(permits: Permissions, signal: AbortSignal): Promise<void> {
    const { collection: name, createCollection } = this.#options;
    const create = { create: name, ...VALIDATION };
    if (!permits('listCollections', '')) return this.#warn(UNPERMITTED, create);
    const found = await this.#find(signal);
    if (found) return this.#expectOrdinary(found);
    if (!createCollection) {
      await this.#expectNoCaseConflict(signal);
      return this.#warn(ABSENT, create);
    }
    if (!permits('createCollection', name)) return this.#warn(UNPERMITTED, create);
    const limits = { writeConcern: { w: 'majority' }, maxTimeMS: WRITE_TIMEOUT_MS };
    await this.#command({ ...create, ...limits }, signal).catch((error) => {
      // Another instance has created it meanwhile.
      if (codeOf(error) !== NAMESPACE_EXISTS) throw error;
    });
  }

  async #find(signal: AbortSignal, options: Document = {}): Promise<Document | undefined> {
    const filter = { name: this.#options.collection };
    const { cursor } = await this.#command({ listCollections: 1, filter, ...options }, signal);
    return cursor.firstBatch[0];
  }

  /**
   * Throws unless this is an ordinary collection: a capped collection, a view or a time series may drop or refuse
   * acknowledged plants.
   */
  #expectOrdinary({ name, type = 'collection', options = {} }: Document): void {
    const kind = options.capped ? 'capped collection' : type;
    if (kind !== 'collection') {
      throw new MongoStoreError('unusable', `the collection is not an ordinary one: ${kind}`);
    }
    if (isOwnValidator(options.validator)) this.#warnings.forget(OTHER_VALIDATOR);
    else this.#warn(OTHER_VALIDATOR, { collMod: name, ...VALIDATION });
    const refusal = refusalOfEveryPlant(options);
    if (refusal) {
      throw new MongoStoreError('unusable', `the validator refuses every plant: ${refusal}`);
    }
  }

  /** Rejects if the server would refuse to create the database because an existing name differs only in case. */
  async #expectNoCaseConflict(signal: AbortSignal): Promise<void> {
    const { client, databaseName: own } = this.#db;
    const list = { listDatabases: 1, nameOnly: true, authorizedDatabases: true };
    const { databases } = await client.db('admin').command(list, { signal });
    const other = databases.find(
      ({ name }: Document) => name !== own && name.toLowerCase() === own.toLowerCase(),
    );
    if (other) {
      const message = `a database exists whose name differs only in case: ${other.name}`;
      throw new MongoStoreError('unusable', message);
    }
  }

  /**
   * Rejects when an insert would be refused, or is not acknowledged in time. Writes nothing. Without the `update` permission,
   * it waits for a majority only, and not for a lock of the collection or the journal.
   */
  async #expectWritable(permits: Permissions, signal: AbortSignal): Promise<void> {
    const { collection } = this.#options;
    const isPermitted = permits('find', collection) && permits('insert', collection);
    if (!isPermitted) throw MongoStoreError.ofReply({ code: UNAUTHORIZED });
    const limits = { signal, maxTimeMS: WRITE_TIMEOUT_MS };
    const acknowledged = permits('update', collection)
      ? this.#updateNothing(signal)
      : confirmedTime(this.#db, collection, limits);
    await acknowledged.catch(rethrowAsSlow);
  }

  async #updateNothing(signal: AbortSignal): Promise<void> {
    const updates = [{ q: { _id: { $in: [] } }, u: { $unset: { none: 1 } }, multi: true }];
    const limits = { writeConcern: MongoConnection.DURABLE, maxTimeMS: WRITE_TIMEOUT_MS };
    const update = { update: this.#options.collection, updates, ...limits };
    const { writeErrors = [] } = await this.#command(update, signal);
    // A router reports the errors of its shards in this way.
    if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
  }

  #warn(message: string, command: Document): void {
    const inShell = `db.getSiblingDB('${this.#db.databaseName}').runCommand(${JSON.stringify(command)})`;
    this.#warnings.report(message, inShell);
  }

  #command(command: Document, signal: AbortSignal): Promise<Document> {
    return this.#db.command(command, { signal });
  }
}

/** Whether the user may do something with a collection of the database, or with all of them: `''`. */
type Permissions = (action: string, collection: string) => boolean;

/** Everything is permitted without reported privileges. Source: MongoDB manual, "Resource Document". */
function permissionsIn(database: string, authInfo: Document = {}): Permissions {
  const { authenticatedUsers = [], authenticatedUserPrivileges: privileges } = authInfo;
  if (authenticatedUsers.length === 0 || !privileges) return () => true;
  // An empty name in a resource matches every name.
  const covers = ({ anyResource, db, collection }: Document, name: string) =>
    anyResource || (['', database].includes(db) && ['', name].includes(collection));
  return (action, name) =>
    privileges.some(
      ({ resource, actions }: Document) =>
        covers(resource, name) && (actions.includes(action) || actions.includes('anyAction')),
    );
}

const codeOf = (error: unknown) => (error instanceof MongoServerError ? error.code : undefined);

/** Throws that writes are slow when a server that responds did not acknowledge a write in time, otherwise the error itself. */
function rethrowAsSlow(error: unknown): never {
  const isSlow = codeOf(error) === MAX_TIME_MS_EXPIRED || error instanceof NoResponseError;
  throw isSlow ? new MongoStoreError('slow') : error;
}
