import {
  InvalidNewPlantError,
  isPlantId,
  type NewPlant,
  type NewPlantFields,
  newPlant,
  PLANT_ID_RULE,
} from '@plant-store/domain';
import * as v from 'valibot';
import { InvalidJsonError, JsonNumber, type JsonValue, parseJson } from './exact-json.js';
import { failuresOfCreate } from './failures-of-create.js';

/** The fields, each with the message for a value that breaks its rule. Other properties are ignored. */
const fields = v.object(
  // `satisfies`: a field that the domain has, but this object lacks, does not compile.
  {
    id: v.pipe(
      v.instance(JsonNumber, butFound(PLANT_ID_RULE)),
      v.transform((id) => id.toWholeNumber()),
      v.bigint(PLANT_ID_RULE),
      v.check(isPlantId, PLANT_ID_RULE),
    ),
    name: v.string(butFound('name must be a string')),
    tag: v.optional(v.string(butFound('tag must be a string or absent'))),
  } satisfies Record<keyof NewPlantFields, unknown>,
  // A field is missing.
  ({ path }) => `${path?.[0]?.key} is required`,
);

/**
 * Returns a function that parses bytes, one character for each, into a NewPlant (docs/specification.md, "NewPlant"). The
 * function throws {@link InvalidJsonError} with the rule, or {@link InvalidNewPlantError} with every problem in one message.
 *
 * @param what What the messages call the bytes, such as "the body".
 */
export function newPlantParser(what: string): (bytes: string) => NewPlant {
  const object = v.custom<object>(isObject, butFound(`${what} must be a JSON object`));
  const schema = v.pipe(object, fields, v.transform(newPlant));
  return function parseNewPlant(bytes) {
    const result = v.safeParse(schema, parsed(bytes, what));
    if (result.success) return result.output;
    throw new InvalidNewPlantError(result.issues.map((issue) => issue.message).join('; '));
  };
}

function parsed(bytes: string, what: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof InvalidJsonError)) throw error;
    throw new InvalidJsonError(`${failuresOfCreate(what).INVALID_JSON.message}: ${error.message}`);
  }
}

/** Returns the message for a value whose kind breaks the rule. */
function butFound(rule: string) {
  return ({ input }: { readonly input: unknown }) => `${rule}, not ${kindOf(input)}`;
}

/** Returns the kind of a JSON value, which messages show instead of the value. */
function kindOf(value: unknown): string {
  if (isObject(value)) return 'an object';
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return 'a number';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function isObject(value: unknown): boolean {
  const isOther = value === null || value instanceof JsonNumber || Array.isArray(value);
  return typeof value === 'object' && !isOther;
}
