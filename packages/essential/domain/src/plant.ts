/** Marks what was validated. Only the compiler sees it. */
declare const valid: unique symbol;

/** Id of a plant: a `bigint` that passes {@link isPlantId}. Source: docs/specification.md, "NewPlant" (`id`, int64). */
export type PlantId = bigint & { readonly [valid]: 'PlantId' };

/** The smallest id, -2^63. */
export const MIN_PLANT_ID = -9223372036854775808n;

/** The largest id, 2^63 - 1. */
export const MAX_PLANT_ID = 9223372036854775807n;

/** The rule of {@link isPlantId}, worded for error messages. */
export const PLANT_ID_RULE = `id must be a whole number from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}`;

/** Returns whether a whole number is in the range of int64, from {@link MIN_PLANT_ID} to {@link MAX_PLANT_ID}. */
export function isPlantId(value: bigint): value is PlantId {
  return value >= MIN_PLANT_ID && value <= MAX_PLANT_ID;
}

/** A plant as returned to clients, without its id. Source: docs/specification.md, "Plant". */
export interface Plant {
  readonly name: string;
  /** The type of the plant. Absent when the plant was created without one. */
  readonly tag?: string;
}

/** A plant to be created, already validated by {@link newPlant}. Source: docs/specification.md, "NewPlant". */
export interface NewPlant extends Plant {
  readonly id: PlantId;
  readonly [valid]: 'NewPlant';
}

/** The fields of a plant to be created, not yet validated. */
export interface NewPlantFields {
  readonly id: bigint;
  readonly name: string;
  readonly tag?: string | undefined;
}

/** The fields are not a valid plant. The message names each invalid field and its rule, but never a value. */
export class InvalidNewPlantError extends Error {
  override readonly name = 'InvalidNewPlantError';
  readonly code = 'INVALID_NEW_PLANT';
}

/**
 * Validates the fields and returns a frozen {@link NewPlant}. Only this validates a plant; a spread copy is not frozen.
 *
 * @throws {InvalidNewPlantError} if `id` is outside int64, or a string contains a lone surrogate and therefore cannot
 *   be encoded as UTF-8.
 *
 * @example
 * ```ts
 * import { newPlant } from '@plant-store/domain';
 *
 * const plant = newPlant({ id: 9007199254740993n, name: 'Monstera', tag: 'tropical' });
 * ```
 */
export function newPlant(fields: NewPlantFields): NewPlant {
  const { id, name, tag } = fields;
  const problems: string[] = [];
  if (!isPlantId(id)) problems.push(PLANT_ID_RULE);
  if (!name.isWellFormed()) problems.push('name must not contain a lone surrogate');
  if (tag?.isWellFormed() === false) problems.push('tag must not contain a lone surrogate');
  if (problems.length > 0) throw new InvalidNewPlantError(problems.join('; '));
  return Object.freeze(tag === undefined ? { id, name } : { id, name, tag }) as NewPlant;
}

/** Returns the plant as responses show it: everything except the id. */
export function toPlant({ id, ...plant }: NewPlant): Plant {
  return plant;
}
