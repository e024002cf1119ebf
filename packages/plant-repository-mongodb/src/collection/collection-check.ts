import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { NoResponseError, type StorageObserver } from '@plant-store/plant-repository-group-commit';
import { type Db, type Document, MongoServerError } from 'mongodb';
import { CollectionError, codeOf, DENIED, UNAUTHORIZED } from '../connection/problem.js';
import { DURABLE, FIELD_TYPES } from './plant-collection.js';

/** Error codes of a server. */
const NAMESPACE_EXISTS = 48;
const MAX_TIME_MS_EXPIRED = 50;

/** Less than the time limit of a check, so that the server reports why it cannot write, and ends the command. */
const WRITE_TIMEOUT_MS = 1_000;

const SLOW = 'writes are not acknowledged in time: they are blocked, or no majority is available';
const UNPERMITTED =
  'the user lacks the permission to look up the collection, or to create it with its validator';
const ABSENT = 'the collection does not exist yet: the service creates it when it starts';
const OTHER_VALIDATOR =
  'the collection does not have the validator of this service, and may refuse plants or accept others';

const TYPES = { _id: 'long', ...FIELD_TYPES, mark: 'objectId' };

const SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'name', 'mark'],
  properties: Object.fromEntries(
    Object.entries(TYPES).map(([field, bsonType]) => [field, { bsonType }]),
  ),
};

/** Allows further fields: during a rolling update, older and newer instances of the service write to one collection. */
export const VALIDATION = {
  validator: { $jsonSchema: SCHEMA },
  validationLevel: 'strict',
  validationAction: 'error',
};

/** The name of the collection, and whether to create it when it does not exist. */
export interface CollectionOptions {
  readonly collection: string;
  readonly createCollection: boolean;
}

/** Checks that the collection can store plants, without writing a document. */
export class CollectionCheck {
  readonly #db: Db;
  readonly #options: CollectionOptions;
  readonly #observe: StorageObserver;
  /** Checks run every second and would repeat each warning. */
  readonly #reported = new Set<string>();

  constructor(db: Db, options: CollectionOptions, observe: StorageObserver) {
    this.#db = db;
    this.#options = options;
    this.#observe = observe;
  }

  /** Rejects with {@link CollectionError}, with the error of the driver, or with the reason of the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const status = await this.#connect(signal);
    // At the same time, because each takes a round trip. The first one explains more.
    const parts = [this.#setUp(status, signal), this.#expectWrite(status, signal)];
    for (const it of await Promise.allSettled(parts)) {
      if (it.status === 'rejected') throw it.reason;
    }
  }

  /** Rejects without the collection: an empty page would mean that no plant is left. Needs only permission to read it. */
  async expectCollection(signal: AbortSignal): Promise<void> {
    if (await this.#find(signal, { nameOnly: true, authorizedCollections: true })) return;
    throw new CollectionError(
      `the database "${this.#db.databaseName}" has no collection "${this.#options.collection}"`,
    );
  }

  /** Reports a warning for the administrator, once per message. */
  warn(message: string, step?: Document): void {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    const command =
      step && `db.getSiblingDB('${this.#db.databaseName}').runCommand(${JSON.stringify(step)})`;
    this.#observe({ type: 'storage warning', message, ...(command && { command }) });
  }

  get #hasCredentials(): boolean {
    return this.#db.client.options.credentials !== undefined;
  }

  /**
   * Resolves with the user and its privileges. A user that was removed is logged out of every open connection, and stays
   * so when an administrator creates it again: then new connections show whether the credentials are valid.
   */
  async #connect(signal: AbortSignal): Promise<Document> {
    const status = await this.#status(signal);
    if (!this.#hasCredentials || status.authInfo?.authenticatedUsers?.length !== 0) return status;
    await this.#db.client.close();
    return this.#status(signal);
  }

  async #status(signal: AbortSignal): Promise<Document> {
    // A client that could not connect, or was closed, does not connect again by itself.
    await Promise.race([this.#db.client.connect(), once(signal, 'abort')]);
    signal.throwIfAborted();
    return this.#command({ connectionStatus: 1, showPrivileges: true }, signal);
  }

  /** In each check: an insert creates a collection that was dropped, without a validator. */
  async #setUp(status: Document, signal: AbortSignal): Promise<void> {
    const create = { create: this.#options.collection, ...VALIDATION };
    if (!this.#may('listCollections', status, '')) return this.warn(UNPERMITTED, create);
    try {
      if (await this.#exists(signal)) return;
      if (!this.#options.createCollection) {
        await this.#expectOwnCase(signal);
        return this.warn(ABSENT, create);
      }
      const limits = { writeConcern: { w: 'majority' }, maxTimeMS: WRITE_TIMEOUT_MS };
      await this.#command({ ...create, ...limits }, signal);
    } catch (error) {
      // Another instance may have created it meanwhile.
      if (codeOf(error) === NAMESPACE_EXISTS) await this.#exists(signal);
      else if (codeOf(error) !== UNAUTHORIZED || !this.#hasCredentials) throw error;
      else this.warn(UNPERMITTED, create);
    }
  }

  /** Rejects if the server would refuse to create the database because an existing name differs only in case. */
  async #expectOwnCase(signal: AbortSignal): Promise<void> {
    const list = { listDatabases: 1, nameOnly: true, authorizedDatabases: true };
    const { databases } = await this.#db.client.db('admin').command(list, { signal });
    const own = this.#db.databaseName;
    const inOtherCase = ({ name }: Document) =>
      name !== own && name.toLowerCase() === own.toLowerCase();
    const other = databases.find(inOtherCase);
    if (other === undefined) return;
    throw new CollectionError(
      `the database "${other.name}" exists, and MongoDB refuses a name that differs only in case`,
    );
  }

  /** Resolves with whether the collection exists. Rejects when it does not keep what it acknowledges. */
  async #exists(signal: AbortSignal): Promise<boolean> {
    const { collection: name } = this.#options;
    const collection = await this.#find(signal);
    if (collection === undefined) return false;
    const { type = 'collection', options = {} } = collection;
    const kind = options.capped ? 'capped collection' : type;
    if (kind !== 'collection')
      throw new CollectionError(`"${name}" is a ${kind}, not a collection`);
    if (isOwn(options.validator)) this.#reported.delete(OTHER_VALIDATOR);
    else this.warn(OTHER_VALIDATOR, { collMod: name, ...VALIDATION });
    return true;
  }

  async #find(signal: AbortSignal, options: Document = {}): Promise<Document | undefined> {
    const filter = { name: this.#options.collection };
    const { cursor } = await this.#command({ listCollections: 1, filter, ...options }, signal);
    return cursor.firstBatch[0];
  }

  /**
   * Rejects when an insert would be refused. If the user has the `update` permission, it waits for locks, the journal and a
   * majority, as an insert would. Writes nothing.
   */
  async #expectWrite(status: Document, signal: AbortSignal): Promise<void> {
    if (this.#may('update', status)) {
      const updates = [{ q: { _id: { $in: [] } }, u: { $unset: { none: 1 } }, multi: true }];
      const limits = { writeConcern: DURABLE, maxTimeMS: WRITE_TIMEOUT_MS };
      const update = { update: this.#options.collection, updates, ...limits };
      const { writeErrors = [] } = await this.#command(update, signal).catch(slowly);
      // A router reports the errors of its shards in this way.
      if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
    }
    const isPermitted = this.#may('find', status) && this.#may('insert', status);
    if (!isPermitted) throw new CollectionError(DENIED);
  }

  /** Whether the user may do this; true without reported privileges. Source: MongoDB manual, "Resource Document". */
  #may(action: string, { authInfo }: Document, collection = this.#options.collection): boolean {
    const { authenticatedUsers = [], authenticatedUserPrivileges } = authInfo ?? {};
    if (authenticatedUsers.length === 0 || !authenticatedUserPrivileges) return true;
    // An empty name in a resource matches every name.
    const isCovered = ({ db, collection: name }: Document) =>
      ['', this.#db.databaseName].includes(db) && ['', collection].includes(name);
    return authenticatedUserPrivileges.some(
      ({ resource, actions }: Document) =>
        (resource.anyResource || isCovered(resource)) &&
        (actions.includes(action) || actions.includes('anyAction')),
    );
  }

  #command(command: Document, signal: AbortSignal): Promise<Document> {
    return this.#db.command(command, { signal });
  }
}

/** Whether a validator belongs to this version or to another whose plants have more or fewer optional fields. */
function isOwn(validator: Document | undefined): boolean {
  const found: Document = validator?.$jsonSchema?.properties ?? {};
  const isExpected = (field: string) => field in found || SCHEMA.required.includes(field);
  const expected = Object.entries(SCHEMA.properties).filter(([field]) => isExpected(field));
  const properties = { ...found, ...Object.fromEntries(expected) };
  return isDeepStrictEqual(validator, { $jsonSchema: { ...SCHEMA, properties } });
}

/** Rejects as slow when a server that responds did not acknowledge a write in time. */
function slowly(error: unknown): never {
  const isSlow = codeOf(error) === MAX_TIME_MS_EXPIRED || error instanceof NoResponseError;
  throw isSlow ? new CollectionError(SLOW, 'slow') : error;
}
