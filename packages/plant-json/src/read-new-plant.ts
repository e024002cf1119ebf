import { InvalidNewPlantError, type NewPlant } from '@plant-store/domain';
import * as v from 'valibot';
import { InvalidJsonError, type JsonValue, parseJson } from './exact-json.js';
import { createFailures } from './failures.js';
import { newPlantSchema } from './new-plant-schema.js';

/**
 * Makes the function that turns bytes into the NewPlant that they hold.
 *
 * The function throws {@link InvalidJsonError}, naming the rule, or {@link InvalidNewPlantError},
 * with every problem in one message.
 *
 * @param what What the bytes are, for the messages: "the body".
 */
export function newPlantReader(what: string): (bytes: Buffer) => NewPlant {
  const schema = newPlantSchema(what);
  const { message } = createFailures(what).INVALID_JSON;
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
