import { setTimeout as wait } from 'node:timers/promises';
import type { Db, Document } from 'mongodb';
import { hasServerCode, UNAUTHORIZED } from '../connection/server-code.js';
import type { StorageWarning } from './storage-warnings.js';

const NAMESPACE_EXISTS = 48;

const RETRY_PAUSE_MS = 1_000;

const FOREIGN = 'the validator of the collection stays as it is: this service did not create it';
const UNPERMITTED = 'the validator of the collection cannot be set: the permission is missing';

/** Increased with every change of {@link VALIDATOR}. */
const VERSION = 1;
const VERSION_OF = /^plant-store schema (\d+)$/;

/**
 * Allows further fields, because during a rolling update older and newer instances of the service write to
 * one collection.
 */
const VALIDATOR = {
  $jsonSchema: {
    description: `plant-store schema ${VERSION}`,
    bsonType: 'object',
    required: ['_id', 'name', 'mark'],
    properties: {
      _id: { bsonType: 'long' },
      name: { bsonType: 'string' },
      tag: { bsonType: 'string' },
      mark: { bsonType: 'objectId' },
    },
  },
};

/** The part of a database that the set-up uses. */
type Database = Pick<Db, 'command' | 'databaseName'>;

/** There is no collection of this name but, for example, a view, which never accepts a plant. */
export class UnusableCollectionError extends Error {
  override readonly name = 'UnusableCollectionError';
}

type Step = { readonly create: string } | { readonly collMod: string };

/** The version of a validator of this package; `undefined` for any other validator. */
function versionOf(validator: Document): number | undefined {
  const version = VERSION_OF.exec(validator.$jsonSchema?.description)?.[1];
  return version === undefined ? undefined : Number(version);
}

/** The validator of the collection, empty when it has none; `undefined` when there is no collection. */
async function validatorOf(
  db: Database,
  name: string,
  signal: AbortSignal,
): Promise<Document | undefined> {
  const { cursor } = await db.command({ listCollections: 1, filter: { name } }, { signal });
  const [collection] = cursor.firstBatch;
  const { type = 'collection', options = {} } = collection ?? {};
  if (type !== 'collection') {
    throw new UnusableCollectionError(`"${name}" is a ${type}, not a collection`);
  }
  return collection && (options.validator ?? {});
}

function withValidator(step: Step): Document {
  return { ...step, validator: VALIDATOR, validationLevel: 'strict', validationAction: 'error' };
}

function warning(db: Database, step: Step, message: string): StorageWarning {
  const command = JSON.stringify(withValidator(step));
  return { message, command: `db.getSiblingDB('${db.databaseName}').runCommand(${command})` };
}

async function setUp(
  db: Database,
  name: string,
  signal: AbortSignal,
): Promise<StorageWarning | undefined> {
  const validator = await validatorOf(db, name, signal);
  const step = validator ? { collMod: name } : { create: name };
  if (validator && Object.keys(validator).length > 0) {
    const version = versionOf(validator);
    if (version === undefined) return warning(db, step, FOREIGN);
    if (version >= VERSION) return undefined;
  }
  const command = { ...withValidator(step), writeConcern: { w: 'majority' } };
  return db.command(command, { signal }).then(
    () => undefined,
    (error: unknown) => {
      if (hasServerCode(error, UNAUTHORIZED)) return warning(db, step, UNPERMITTED);
      throw error;
    },
  );
}

/**
 * Creates the collection with its validator when it does not exist, and updates the validator of an older
 * version of this package. Does not change any other validator.
 *
 * Resolves with a warning for an administrator, if there is one. Rejects with {@link UnusableCollectionError},
 * or with the error of the database; both can be retried.
 */
export async function setUpCollection(
  db: Database,
  name: string,
  signal: AbortSignal,
): Promise<StorageWarning | undefined> {
  try {
    return await setUp(db, name, signal).catch((error: unknown) => {
      // Another instance has created the collection meanwhile.
      if (hasServerCode(error, NAMESPACE_EXISTS)) return setUp(db, name, signal);
      throw error;
    });
  } catch (error) {
    if (hasServerCode(error, UNAUTHORIZED)) return warning(db, { create: name }, UNPERMITTED);
    throw error;
  }
}

/** Receives the progress of the set-up. */
export interface SetUpListener {
  warn(warning: StorageWarning): void;
  /** An attempt has failed; there will be another. */
  failed(error: Error): void;
  /** Every plant would be refused until the collection is {@link usable}. */
  unusable(error: UnusableCollectionError): void;
  usable(): void;
}

/**
 * Sets the collection up, and retries until it succeeds or `closing` is aborted. Plants need not wait for it:
 * the types of this package already ensure the form of documents.
 */
export async function retrySetUp(
  db: Database,
  name: string,
  listener: SetUpListener,
  closing: AbortSignal,
): Promise<void> {
  while (!closing.aborted) {
    try {
      const warning = await setUpCollection(db, name, closing);
      listener.usable();
      if (warning) listener.warn(warning);
      return;
    } catch (error) {
      if (closing.aborted) return;
      if (error instanceof UnusableCollectionError) listener.unusable(error);
      else if (error instanceof Error) listener.failed(error);
      await wait(RETRY_PAUSE_MS, undefined, { signal: closing }).catch(() => undefined);
    }
  }
}
