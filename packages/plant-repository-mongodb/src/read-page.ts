import { type NewPlantFields, type PageRequest, UnreadablePlantError } from '@plant-store/domain';
import { type Db, Decimal128, type Document, Long } from 'mongodb';
import { codeOf } from './storage-error.js';
import { FIELD_TYPES } from './validation.js';

const FIELDS = Object.keys(FIELD_TYPES);

/** The error code of a standalone server for read concern `linearizable`. */
const NOT_A_REPLICA_SET = 123;

/** Reads one page of the plants of a collection, in the order of their ids, as `PlantReader.read` does. */
export async function readPage(
  db: Db,
  name: string,
  { after, limit }: PageRequest,
  signal: AbortSignal,
): Promise<readonly NewPlantFields[]> {
  const find = async (query: Document): Promise<Document> =>
    db.command({ find: name, ...query, singleBatch: true }, { signal, promoteLongs: false });
  const time = await find(CONFIRMATION).then(
    ({ operationTime }) => operationTime,
    noTimeOnStandalone,
  );
  const { cursor } = await find({
    filter: { _id: after === undefined ? { $gte: Long.MIN_VALUE } : { $gt: after } },
    projection: Object.fromEntries(FIELDS.map((field) => [field, 1])),
    sort: { _id: 1 },
    limit,
    batchSize: limit,
    readConcern: { level: 'majority', ...(time && { afterClusterTime: time }) },
  });
  return cursor.firstBatch.map(toPlant);
}

/**
 * The time in its reply covers every plant acknowledged until now. A majority read alone may miss such plants: on a
 * primary that does not know it was replaced, and on a new one that does not know yet what a majority has. A linearizable
 * read waits until a majority confirms the primary, but it can read only one document, so the page uses its time.
 */
const CONFIRMATION = {
  filter: { _id: Long.ZERO },
  projection: { _id: 1 },
  limit: 1,
  readConcern: { level: 'linearizable' },
};

/** A standalone server needs no time: no other member could know more. */
function noTimeOnStandalone(error: unknown): undefined {
  if (codeOf(error) !== NOT_A_REPLICA_SET) throw error;
}

function toPlant(document: Document): Required<NewPlantFields> {
  const { _id, name, tag } = document;
  const id = idOf(_id);
  const isText = (field: string) => ['string', 'undefined'].includes(typeof document[field]);
  const hasTexts = name !== undefined && FIELDS.every(isText);
  if (id !== undefined && hasTexts) return { id, name, tag };
  throw new UnreadablePlantError(
    `the document with the _id ${_id} is not a plant: another program wrote it. Remove it or correct it`,
  );
}

/** A decimal that is a whole number, as its text: `4`, `4.0` or `4E+2`. */
const WHOLE = /^(-?\d+)(?:\.0+)?(?:E\+(\d+))?$/;

/** Another program may have stored an id in another numeric type: for MongoDB, equal numbers are the same id. */
export function idOf(_id: unknown): bigint | undefined {
  if (_id instanceof Long) return _id.toBigInt();
  if (!(_id instanceof Decimal128)) {
    return typeof _id === 'number' && Number.isInteger(_id) ? BigInt(_id) : undefined;
  }
  const [, digits, zeros = 0] = WHOLE.exec(`${_id}`) ?? [];
  return digits === undefined ? undefined : BigInt(digits) * 10n ** BigInt(zeros);
}
