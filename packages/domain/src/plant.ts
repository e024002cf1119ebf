import { isPlantId, PLANT_ID_RULE, type PlantId } from './plant-id.js';

declare const checked: unique symbol;

/** A plant as a response shows it, without its id. Source: docs/specification.md, "Plant". */
export interface Plant {
  readonly name: string;
  /** The type of the plant. Absent when the plant was created without one. */
  readonly tag?: string;
}

/** A plant to be created, already checked by {@link newPlant}. Source: docs/specification.md, "NewPlant". */
export interface NewPlant extends Plant {
  readonly id: PlantId;
  readonly [checked]: 'NewPlant';
}

/** The fields of a plant to be created, not yet checked. */
export interface NewPlantFields {
  readonly id: bigint;
  readonly name: string;
  readonly tag?: string | undefined;
}

/** The fields do not make a plant. The message names each field and its rule, never a value. */
export class InvalidNewPlantError extends Error {
  override readonly name = 'InvalidNewPlantError';
  readonly code = 'INVALID_NEW_PLANT';
}

/**
 * Checks fields and returns them as a {@link NewPlant}; there is no other way to get one. The result is
 * frozen and shares nothing with `fields`.
 *
 * @throws {InvalidNewPlantError} when `id` is outside int64, or `name` or `tag` holds a lone
 * surrogate: such a string has no UTF-8 form.
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

/** Returns the part of a new plant that a response shows: everything but the id. */
export function toPlant({ name, tag }: NewPlant): Plant {
  return tag === undefined ? { name } : { name, tag };
}
