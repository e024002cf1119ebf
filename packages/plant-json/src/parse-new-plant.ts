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

/** Returns the kind of a JSON value, which messages show instead of the value. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return 'a number';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Returns the message for a value whose kind breaks the rule. */
const butFound =
  (rule: string) =>
  ({ input }: { readonly input: unknown }) =>
    `${rule}, not ${kindOf(input)}`;

/** Ignores other properties. The message of every issue names the field and the rule. */
const fields = v.object(
  // Does not compile without a field of the domain.
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
  ({ path }) => `${path?.[0]?.key} is required`,
);

/**
 * Returns a function that parses bytes into a NewPlant (docs/specification.md, "NewPlant"). The function throws
 * {@link InvalidJsonError} with the rule, or {@link InvalidNewPlantError} with every problem in one message.
 *
 * @param what The name of the bytes in messages, such as "the body".
 */
export function newPlantParser(what: string): (bytes: Buffer) => NewPlant {
  const object = v.custom<object>(
    (value) => kindOf(value) === 'an object',
    butFound(`${what} must be a JSON object`),
  );
  const schema = v.pipe(object, fields, v.transform(newPlant));
  const { message } = failuresOfCreate(what).INVALID_JSON;
  return function parseNewPlant(bytes) {
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
