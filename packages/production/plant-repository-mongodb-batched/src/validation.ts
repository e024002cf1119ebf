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
