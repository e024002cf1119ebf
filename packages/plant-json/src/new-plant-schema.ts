import { isPlantId, newPlant, PLANT_ID_RULE } from '@plant-store/domain';
import * as v from 'valibot';
import { JsonNumber } from './exact-json.js';
import { toWholeNumber } from './whole-number.js';

const isObject = (input: unknown) =>
  typeof input === 'object' &&
  input !== null &&
  !Array.isArray(input) &&
  !(input instanceof JsonNumber);

const fields = v.object(
  {
    id: v.pipe(
      v.instance(JsonNumber, PLANT_ID_RULE),
      v.transform(toWholeNumber),
      v.bigint(PLANT_ID_RULE),
      v.check(isPlantId, PLANT_ID_RULE),
    ),
    name: v.string('name must be a string'),
    tag: v.optional(v.string('tag must be a string, or absent')),
  },
  ({ path }) => `${path?.[0]?.key} is required`,
);

/**
 * Returns the schema that checks a JSON value and converts it into a NewPlant. It ignores other properties. The
 * message of every issue names the field and the rule.
 *
 * Source: docs/specification.md, "NewPlant".
 *
 * @param what What contains the value, for the messages, such as "the body".
 */
export const newPlantSchema = (what: string) =>
  v.pipe(
    v.custom<object>(isObject, `${what} must be a JSON object`),
    fields,
    v.transform(newPlant),
  );
