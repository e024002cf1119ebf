import type { NewPlantFields } from '@plant-store/domain';
import { type PageRequest, UnreadablePlantError } from '@plant-store/plant-reader';
import {
  BSON,
  type Db,
  Decimal128,
  type Document,
  Long,
  MongoServerError,
  type Timestamp,
} from 'mongodb';
import { FIELD_TYPES } from './validation.js';

/** The code of a standalone, which refuses the read concern. */
const NOT_A_REPLICA_SET = 123;

const FIELDS = Object.keys(FIELD_TYPES);

/** Reads one page of the plants of a collection, in the order of their ids, as `PlantReader.read` does. */
export async function readPage(
  db: Db,
  name: string,
  { after, limit }: PageRequest,
  signal: AbortSignal,
): Promise<readonly NewPlantFields[]> {
  const time = await confirmedTime(db, name, { signal });
  const find = {
    find: name,
    // Unlike `$gt`, it finds ids of every type, so that none is skipped.
    filter: after === undefined ? {} : { _id: { $not: { $lte: after } } },
    projection: Object.fromEntries(FIELDS.map((field) => [field, 1])),
    sort: { _id: 1 },
    limit,
    batchSize: limit,
    singleBatch: true,
    readConcern: { level: 'majority', ...(time && { afterClusterTime: time }) },
  };
  const { cursor } = await db.command(find, { signal, promoteLongs: false });
  return cursor.firstBatch.map(toPlant);
}

/**
 * Resolves with a time that covers every plant acknowledged until now, once a majority has confirmed the primary.
 *
 * A majority read alone may miss such plants: on a primary that does not know that it was replaced, and on a new one
 * that does not know yet what a majority has. A linearizable read misses none, but can read only one document.
 *
 * @param limits A `maxTimeMS`, if the server should end the wait.
 */
export async function confirmedTime(
  db: Db,
  name: string,
  { signal, ...limits }: { readonly signal: AbortSignal; readonly maxTimeMS?: number },
): Promise<Timestamp | undefined> {
  const find = { find: name, filter: { _id: Long.ZERO }, projection: { _id: 1 }, limit: 1 };
  const read = { ...find, ...limits, singleBatch: true, readConcern: { level: 'linearizable' } };
  try {
    const { operationTime } = await db.command(read, { signal, promoteLongs: false });
    return operationTime;
  } catch (error) {
    // It needs no time: no other member could know more.
    if (error instanceof MongoServerError && error.code === NOT_A_REPLICA_SET) return undefined;
    throw error;
  }
}

function toPlant(document: Document): Required<NewPlantFields> {
  const { _id, name, tag } = document;
  const id = idOf(_id);
  const isText = (field: string) => ['string', 'undefined'].includes(typeof document[field]);
  const hasTexts = name !== undefined && FIELDS.every(isText);
  if (id !== undefined && hasTexts) return { id, name, tag };
  throw new UnreadablePlantError(
    `the document with the _id ${BSON.EJSON.stringify(_id)} is not a plant: another program wrote it. Remove it or correct it`,
  );
}

/** Returns the id of a document, in any numeric type: for MongoDB, equal numbers are the same id, whoever stored them. */
export function idOf(_id: unknown): bigint | undefined {
  if (_id instanceof Long) return _id.toBigInt();
  if (_id instanceof Decimal128) return wholeNumber(_id.toString());
  return typeof _id === 'number' && Number.isInteger(_id) ? BigInt(_id) : undefined;
}

/** The digits before and after the point, and the exponent: of `1200`, `12.00` or `1.2E+3`, but not of `NaN`. */
const DECIMAL = /^(-?\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/;

/** Returns the value of a decimal; `undefined` if it is not a whole number. */
function wholeNumber(decimal: string): bigint | undefined {
  const [, whole, fraction = '', exponent = '0'] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  const zeros = Number(exponent) - fraction.length;
  const power = 10n ** BigInt(Math.abs(zeros));
  if (zeros >= 0) return digits * power;
  return digits % power === 0n ? digits / power : undefined;
}
