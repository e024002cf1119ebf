import type { Mark, MarkedPlant } from '@plant-store/plant-repository-group-commit';

/** Sent with every insert, so that neither a connection string nor a default of the server weakens it. */
export const DURABLE = { w: 'majority', j: true };

/** A plant as a document of the collection. */
export interface PlantDocument {
  /** Always stored as int64: the driver converts a `bigint` to that. */
  readonly _id: bigint;
  readonly name: string;
  readonly tag?: string;
  /** An ObjectId, unique to one create, by which it recognises its own document. */
  readonly mark: Mark;
}

/** The largest document that MongoDB accepts, in bytes. */
export const MAX_DOCUMENT_BYTES = 2 ** 24;

/** Returns the document of a plant. */
export function toDocument({ plant: { id, name, tag }, mark }: MarkedPlant): PlantDocument {
  return tag === undefined ? { _id: id, name, mark } : { _id: id, name, tag, mark };
}
