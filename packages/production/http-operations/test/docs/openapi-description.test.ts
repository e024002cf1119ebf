import { readFile } from 'node:fs/promises';
import type { Failure } from '@plant-store/http-koa';
import { failures } from '@plant-store/http-operations';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { openApiDescription } from '../../src/docs/openapi-description.js';

const docs = new URL('../../../../../../docs/', import.meta.url);

type Row = Readonly<Record<string, string>>;

interface Schema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Row>>;
}

/** Returns the table of a resource in the specification. */
function specified(page: string, resource: string): Row[] {
  const section = page.split(`\n### ${resource}`)[1]?.split('\n#')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  const [titles = [], ...rows] = lines.map((line) => line.slice(2, -2).split(' | '));
  return rows.map((row) => ({
    Format: '-',
    ...Object.fromEntries(titles.map((title, at) => [title, row[at] ?? ''])),
  }));
}

/** Returns the same table of a schema. */
function described({ required, properties }: Schema): Row[] {
  return Object.entries(properties).map(([name, { type, format, description, ...others }]) => ({
    Field: name,
    Type: `${type}`,
    Format: format ?? '-',
    ...others,
    Required: required.includes(name) ? 'yes' : 'no',
    Meaning: `${description}`,
  }));
}

type Responses = ReturnType<typeof openApiDescription>['paths']['/plants']['post']['responses'];
type Described = Responses[200];

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Responses;
}

/** The operations, with their parameters. */
const OPERATIONS = { 'post /plants': [] };

describe('The OpenAPI description', () => {
  const description = openApiDescription({ basePath: '/store/v1' });
  const text = JSON.stringify(description, null, 2);
  const printed = JSON.parse(text);
  const operations = Object.entries<Record<string, Operation>>(printed.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, it]) => ({ name: `${method} ${path}`, ...it })),
  );
  const responses = operations.flatMap((it) => Object.entries<Described>(it.responses));

  it('contains exactly the resources of the specification', async () => {
    const page = await readFile(new URL('specification.md', docs), 'utf8');
    const { NewPlant, ...whole } = printed.components.schemas;
    const [base, own] = NewPlant.allOf;
    expect(base).to.deep.equal({ $ref: '#/components/schemas/Plant' });
    expect(Object.keys(whole)).to.deep.equal(['Plant', 'Error']);
    for (const [name, schema] of Object.entries<Schema>({ ...whole, NewPlant: own })) {
      expect(described(schema)).to.deep.equal(specified(page, name)).and.not.deep.equal([]);
      const { required, properties, ...rest } = schema;
      expect(rest).to.deep.equal({ type: 'object' });
    }
  });

  it('contains the operation, authentication, version and license of the specification', () => {
    const { requestBody, responses } = printed.paths['/plants'].post;
    const schemas = { NewPlant: requestBody, Plant: responses[200], Error: responses[400] };
    for (const [name, { content }] of Object.entries(schemas)) {
      const $ref = `#/components/schemas/${name}`;
      expect(content['application/json'].schema).to.deep.equal({ $ref });
    }
    expect(requestBody.required).to.equal(true);
    expect(responses[200].description).to.equal('The plant is created');
    expect(printed.security).to.deep.equal([{ bearerAuth: [] }]);
    const bearerAuth = { type: 'http', scheme: 'bearer' };
    expect(printed.components.securitySchemes).to.deep.equal({ bearerAuth });
    expect(printed.info).to.include({ version: '1.0.0' });
    expect(printed.info.license.name).to.equal('MIT');
  });

  it('adds no path, method or parameter to the specification', () => {
    const described = operations.map(({ name, parameters = [] }) => [
      name,
      parameters.map((parameter) => parameter.name),
    ]);
    expect(Object.fromEntries(described)).to.deep.equal(OPERATIONS);
  });

  it('shows every failure as an example of its status, with its headers', () => {
    const decided = Object.entries<Failure>(failures).map(([code, it]) => {
      const names = ['X-Request-Id', 'Cache-Control'];
      if (it.challenge !== undefined) names.push('WWW-Authenticate');
      if (it.retryAfter !== undefined) names.push('Retry-After');
      if (it.status === 405) names.push('Allow');
      return { code, status: it.status, value: { error: it.error, message: it.message }, names };
    });
    const found = responses
      .filter(([status]) => status !== '200')
      .flatMap(([status, { content, headers }]) =>
        Object.entries<{ value: unknown }>(content['application/json'].examples).map(
          ([code, { value }]) => ({
            code,
            status: Number(status),
            value,
            names: Object.keys(headers),
          }),
        ),
      );
    // Several operations have the same failure.
    expect(decided).to.deep.include.members(found);
    expect(found).to.deep.include.members(decided);
  });

  it('is valid OpenAPI 3.0, and all its references resolve', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(printed);
    expect(valid, JSON.stringify(errors)).to.equal(true);
    expect(validator.version).to.equal('3.0');
  });
});

describe('docs/errors.md', () => {
  it('lists exactly the errors of the service, each with its status', async () => {
    const page = await readFile(new URL('errors.md', docs), 'utf8');
    const rows = [...page.matchAll(/^\| (\d{4}) \| (\d{3}) \|/gm)].map((row) =>
      row.slice(1).map(Number),
    );
    const statuses = new Map(Object.values<Failure>(failures).map((f) => [f.error, f.status]));
    expect(rows).to.deep.equal([...statuses].sort(([a], [b]) => a - b));
  });
});
