import type { NewPlant } from '@plant-store/domain';
import { ObjectId } from 'mongodb';

/** A plant as the collection keeps it. */
export interface PlantDocument {
  /** Always int64: the driver turns a `bigint` into nothing else. */
  readonly _id: bigint;
  readonly name: string;
  readonly tag?: string;
  /** Twelve bytes that no other create has: by them a create knows its own document again. */
  readonly mark: ObjectId;
}

/** What the names, the types, the numbers and the mark of a document take, rounded up. */
const FIXED_BYTES = 100;

/** The document for one create, with a new mark. Shares nothing with `plant`. */
export function toDocument({ id, name, tag }: NewPlant): PlantDocument {
  const mark = new ObjectId();
  return tag === undefined ? { _id: id, name, mark } : { _id: id, name, tag, mark };
}

/** The largest document that MongoDB accepts, in bytes. */
const MAX_SIZE = 2 ** 24;

/** An upper bound of the bytes that the document takes in a message. Throws when it is no document. */
export function documentSize({ _id, name, tag }: PlantDocument): number {
  if (typeof _id !== 'bigint') throw new TypeError('the id of a plant must be a bigint');
  const tagBytes = tag === undefined ? 0 : Buffer.byteLength(tag);
  const size = FIXED_BYTES + Buffer.byteLength(name) + tagBytes;
  if (size > MAX_SIZE) throw new RangeError(`a plant must not take more than ${MAX_SIZE} bytes`);
  return size;
}
