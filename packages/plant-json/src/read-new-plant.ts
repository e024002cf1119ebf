import { InvalidNewPlantError, type NewPlant } from '@plant-store/domain';
import * as v from 'valibot';
import { InvalidJsonError, type JsonValue, parseJson } from './exact-json.js';
import { failuresOfCreate } from './failures.js';
import { newPlantSchema } from './new-plant-schema.js';

/**
 * Returns a function that reads a NewPlant from bytes.
 *
 * The function throws {@link InvalidJsonError} with the rule, or {@link InvalidNewPlantError} with every problem in
 * one message.
 *
 * @param what The name of the bytes in messages, such as "the body".
 */
export function newPlantReader(what: string): (bytes: Buffer) => NewPlant {
  const schema = newPlantSchema(what);
  const { message } = failuresOfCreate(what).INVALID_JSON;
  return function readNewPlant(bytes) {
    const result = v.safeParse(schema, parsed(bytes, message));
    if (result.success) return result.output;
    throw new InvalidNewPlantError(result.issues.map((issue) => issue.message).join('; '));
  };
}

function parsed(bytes: Buffer, problem: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof InvalidJsonError)) throw error;
    throw new InvalidJsonError(`${problem}: ${error.message}`);
  }
}
