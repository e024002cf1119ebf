declare const checked: unique symbol;

/**
 * Identification number of a plant: a whole number in the range of int64, kept exactly.
 * A `bigint` that has passed {@link isPlantId} is one.
 *
 * Source: docs/specification.md, "NewPlant" (`id`, integer, int64).
 */
export type PlantId = bigint & { readonly [checked]: 'PlantId' };

/** The smallest id, -2^63. */
export const MIN_PLANT_ID = -9223372036854775808n;

/** The largest id, 2^63 - 1. */
export const MAX_PLANT_ID = 9223372036854775807n;

/** The rule that {@link isPlantId} checks, as the messages of errors state it. */
export const PLANT_ID_RULE = `id must be a whole number from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}`;

/** Returns whether a whole number is in the range of int64, from {@link MIN_PLANT_ID} to {@link MAX_PLANT_ID}. */
export function isPlantId(value: bigint): value is PlantId {
  return value >= MIN_PLANT_ID && value <= MAX_PLANT_ID;
}
