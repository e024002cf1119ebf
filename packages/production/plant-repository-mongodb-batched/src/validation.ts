import { isDeepStrictEqual } from 'node:util';
import type { Plant } from '@plant-store/domain';
import type { Document } from 'mongodb';

/** The BSON type of a field. Does not compile for a field that is not a string: add its type here, and read it in `toPlant`. */
type FieldType<Value> = [Value] extends [string | undefined] ? 'string' : never;

/** The BSON types of the fields of a plant. Does not compile if a field of the domain is missing. */
export const FIELD_TYPES: { readonly [Field in keyof Plant]-?: FieldType<Plant[Field]> } = {
  name: 'string',
  tag: 'string',
};

const TYPES = { _id: 'long', ...FIELD_TYPES };

const SCHEMA = {
  bsonType: 'object',
  required: ['_id', 'name'],
  properties: Object.fromEntries(
    Object.entries(TYPES).map(([field, bsonType]) => [field, { bsonType }]),
  ),
};

/** Allows further fields: during a rolling update, older and newer instances of the service write to one collection. */
export const VALIDATION = {
  validator: { $jsonSchema: SCHEMA },
  validationLevel: 'strict',
  validationAction: 'error',
};

/** Whether a validator belongs to this version or to another whose plants have more or fewer optional fields. */
export function isOwnValidator(validator: Document | undefined): boolean {
  const found: Document = validator?.$jsonSchema?.properties ?? {};
  const isExpected = (field: string) => field in found || SCHEMA.required.includes(field);
  const expected = Object.entries(SCHEMA.properties).filter(([field]) => isExpected(field));
  const properties = { ...found, ...Object.fromEntries(expected) };
  return isDeepStrictEqual(validator, { $jsonSchema: { ...SCHEMA, properties } });
}

/**
 * Returns why the validator of a collection refuses every plant, whatever its name, tag and id; `undefined` if it may accept
 * some. Looks only at the fields that it demands and at their types.
 */
export function refusalOfEveryPlant(collection: Document): string | undefined {
  const { validator = {}, validationLevel, validationAction } = collection;
  if (validationLevel === 'off' || validationAction === 'warn') return undefined;
  const { $jsonSchema: schema = {}, ...conditions } = validator;
  const existing = Object.keys(conditions).filter((field) => conditions[field]?.$exists === true);
  const fields = [...(schema.required ?? []), ...existing];
  const demanded = fields.find((field) => !((field.split('.')[0] ?? '') in TYPES));
  if (demanded !== undefined) return `it demands the field ${demanded}, which no plant has`;
  const excluded = SCHEMA.required.find((field) => !permits(schema, field));
  return excluded && `it does not permit the ${excluded} of a plant`;
}

/** Whether a schema permits a field of a plant with its type. */
function permits(schema: Document, field: string): boolean {
  const { properties = {}, additionalProperties, patternProperties } = schema;
  if (!(field in properties)) return additionalProperties !== false || patternProperties;
  const { bsonType, type = [] } = properties[field];
  const types = [bsonType ?? type].flat();
  const isNumber = field === '_id' && types.includes('number');
  return types.length === 0 || isNumber || types.includes(TYPES[field as keyof typeof TYPES]);
}
