import type { NewPlant } from '@plant-store/domain';
import { ObjectId } from 'mongodb';

/** Sent with every insert, so that neither a connection string nor a default of the server weakens it. */
export const DURABLE = { w: 'majority', j: true };

/** A plant as a document of the collection. */
export interface PlantDocument {
  /** Always stored as int64: the driver converts a `bigint` to that. */
  readonly _id: bigint;
  readonly name: string;
  readonly tag?: string;
  /** Twelve bytes, unique to one create, by which it recognises its own document. */
  readonly mark: ObjectId;
}

/** Bytes of a document beside its name and its tag, rounded up. */
const FIXED_BYTES = 100;

/** Returns a document for one create, with a new mark. Shares nothing with `plant`. */
export function toDocument({ id, name, tag }: NewPlant): PlantDocument {
  const mark = new ObjectId();
  return tag === undefined ? { _id: id, name, mark } : { _id: id, name, tag, mark };
}

/** The largest document that MongoDB accepts, in bytes. */
const MAX_DOCUMENT_BYTES = 2 ** 24;

/** Returns an upper bound of the size of a document in bytes. Throws when the document is invalid or too large. */
export function documentSize({ _id, name, tag }: PlantDocument): number {
  if (typeof _id !== 'bigint') throw new TypeError('the id of a plant must be a bigint');
  const tagBytes = tag === undefined ? 0 : Buffer.byteLength(tag);
  const size = FIXED_BYTES + Buffer.byteLength(name) + tagBytes;
  if (size > MAX_DOCUMENT_BYTES)
    throw new RangeError(`a plant must not take more than ${MAX_DOCUMENT_BYTES} bytes`);
  return size;
}
