import { setTimeout as wait } from 'node:timers/promises';
import type { Db, Document } from 'mongodb';
import { hasServerCode, UNAUTHORIZED } from '../connection/server-code.js';
import type { StorageWarning } from './storage-warnings.js';

const NAMESPACE_EXISTS = 48;

const AGAIN_AFTER_MS = 1_000;

const FOREIGN = 'the validator of the collection stays as it is: this service did not create it';
const UNPERMITTED = 'the validator of the collection cannot be set: the permission is missing';

/** Rises with every change of {@link VALIDATOR}. */
const VERSION = 1;
const VERSION_OF = /^plant-store schema (\d+)$/;

/**
 * Further fields stay allowed: while a service is brought up to date, its older and newer
 * instances write to one collection.
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

/** What the set-up needs of a database. */
type Database = Pick<Db, 'command' | 'databaseName'>;

/** The collection is none, and never takes a plant. */
export class UnusableCollectionError extends Error {
  override readonly name = 'UnusableCollectionError';
}

type Step = { readonly create: string } | { readonly collMod: string };

/** The version of a validator that this package has made; `undefined` for anybody else's. */
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
 * Makes the collection with its validator where it is absent, and renews a validator that an
 * older version of this package has made. One that others have made is left alone.
 *
 * Resolves with what an administrator should know; rejects when it should be tried again.
 */
export async function setUpCollection(
  db: Database,
  name: string,
  signal: AbortSignal,
): Promise<StorageWarning | undefined> {
  try {
    return await setUp(db, name, signal).catch((error: unknown) => {
      // Another instance was faster: what it has made is looked at in turn.
      if (hasServerCode(error, NAMESPACE_EXISTS)) return setUp(db, name, signal);
      throw error;
    });
  } catch (error) {
    if (hasServerCode(error, UNAUTHORIZED)) return warning(db, { create: name }, UNPERMITTED);
    throw error;
  }
}

/** Receives how the set-up proceeds. */
export interface SetUpListener {
  warn(warning: StorageWarning): void;
  /** It is tried again. */
  failed(error: Error): void;
  /** Plants need not be sent until it is {@link usable}. */
  unusable(error: UnusableCollectionError): void;
  usable(): void;
}

/**
 * Sets the collection up, in as many attempts as it takes until `closing` is aborted. Plants need
 * not wait for it: until then, the types alone keep the documents in shape.
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
      await wait(AGAIN_AFTER_MS, undefined, { signal: closing }).catch(() => undefined);
    }
  }
}
