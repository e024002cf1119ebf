import type { NewPlant } from '@plant-store/domain';
import * as v from 'valibot';
import { HttpError } from '../frame/failures.js';
import { parseJson } from './exact-json.js';
import { newPlantSchema } from './new-plant-schema.js';

/**
 * The NewPlant that a body holds.
 *
 * @throws {HttpError} `INVALID_JSON`, or `INVALID_NEW_PLANT` with every problem in one message.
 */
export function readNewPlant(body: Buffer): NewPlant {
  const result = v.safeParse(newPlantSchema, parseJson(body));
  if (result.success) return result.output;
  throw new HttpError('INVALID_NEW_PLANT', result.issues.map(({ message }) => message).join('; '));
}
