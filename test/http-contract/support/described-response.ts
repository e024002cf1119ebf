import { openApiDescription } from '@plant-store/http-operations';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { fieldValues, type ReceivedResponse } from './raw-connection.js';

interface Reference {
  readonly $ref: string;
}

interface Described {
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content: Readonly<Record<string, { readonly schema: Reference }>>;
}

const { paths, components } = openApiDescription();
const responses: Readonly<Record<string, Described>> = paths['/plants'].post.responses;

/** Makes validators from nothing but the OpenAPI description. */
const ajv = new Ajv2020({
  keywords: ['components', 'headers', 'securitySchemes'],
  formats: {
    int32: { type: 'number', validate: (it) => (it | 0) === it },
    int64: { type: 'number', validate: (it) => it >= -(2 ** 63) && it < 2 ** 63 },
  },
});
ajv.addSchema({ $id: 'description', components }, undefined, true);

/** Checks that the OpenAPI description lists a response of the operation: its status, headers and content. */
export function expectDescribed(response: ReceivedResponse): void {
  const { status, body } = response;
  const { headers, content } = responses[status] ?? expect.fail(`${status} is not described`);
  for (const [name, reference] of Object.entries(headers)) {
    const [value] = fieldValues(response, name.toLowerCase());
    const isNumber = /^\d+$/.test(value ?? '') && name === 'Retry-After';
    expectValid({ $ref: `${reference.$ref}/schema` }, isNumber ? Number(value) : value, name);
  }
  const [type = ''] = fieldValues(response, 'content-type').map((it) => it.replace(/;.*/, ''));
  const { schema } = content[type] ?? expect.fail(`the media type '${type}' is not described`);
  expectValid(schema, JSON.parse(body.toString()), 'the content');
}

function expectValid({ $ref }: Reference, value: unknown, what: string): void {
  const validate =
    ajv.getSchema(`description${$ref}`) ?? expect.fail(`the description lacks ${$ref}`);
  expect(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`).to.equal(true);
}
