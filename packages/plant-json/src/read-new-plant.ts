import {
  InvalidNewPlantError,
  isPlantId,
  type NewPlant,
  newPlant,
  PLANT_ID_RULE,
  type PlantId,
} from '@plant-store/domain';
import {
  InvalidJsonError,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  parseJson,
} from './exact-json.js';
import { createFailures } from './failures.js';
import { toWholeNumber } from './whole-number.js';

/**
 * Returns a function that reads a NewPlant from bytes.
 *
 * The function throws {@link InvalidJsonError} with the rule, or {@link InvalidNewPlantError} with every problem in
 * one message.
 *
 * @param what The name of the bytes in messages, such as "the body".
 */
export function newPlantReader(what: string): (bytes: Buffer) => NewPlant {
  const { message } = createFailures(what).INVALID_JSON;
  return function readNewPlant(bytes) {
    const value = parsed(bytes, message);
    if (isObject(value)) return newPlantOf(value);
    throw new InvalidNewPlantError(`${what} must be a JSON object`);
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

function isObject(value: JsonValue): value is JsonObject {
  const isAnyObject = typeof value === 'object' && value !== null;
  return isAnyObject && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** Ignores the members that a NewPlant does not have. Source: docs/specification.md, "NewPlant". */
function newPlantOf(object: JsonObject): NewPlant {
  const id = plantIdOf(object.id);
  const { name, tag } = object;
  if (id !== undefined && typeof name === 'string' && isTag(tag))
    return newPlant({ id, name, tag });
  const problems: string[] = [];
  if (id === undefined) problems.push(object.id === undefined ? 'id is required' : PLANT_ID_RULE);
  if (name === undefined) problems.push('name is required');
  else if (typeof name !== 'string') problems.push('name must be a string');
  if (!isTag(tag)) problems.push('tag must be a string, or absent');
  throw new InvalidNewPlantError(problems.join('; '));
}

function plantIdOf(value: JsonValue | undefined): PlantId | undefined {
  const id = value instanceof JsonNumber ? toWholeNumber(value) : undefined;
  return id !== undefined && isPlantId(id) ? id : undefined;
}

function isTag(value: JsonValue | undefined): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
