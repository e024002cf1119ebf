import { readFile } from 'node:fs/promises';
import { type Config, createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { expect } from 'chai';
import { type FailureGuide, failureGuide } from '../../src/docs/failure-guide.js';
import { interfaceDescription } from '../../src/docs/interface-description.js';
import { type Failure, failures } from '../../src/frame/failures.js';

/** The text of the specification, word for word. */
const specification = {
  info: { version: '1.0.0', license: { name: 'MIT' } },
  security: [{ bearerAuth: [] }],
  paths: {
    '/plants': {
      post: {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/NewPlant' } } },
        },
        responses: {
          200: {
            description: 'The plant is created',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Plant' } } },
          },
          400: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Plant: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'The name of the plant' },
          tag: { type: 'string', description: 'Tag that specifies the type of the plant' },
        },
      },
      NewPlant: {
        allOf: [
          { $ref: '#/components/schemas/Plant' },
          {
            type: 'object',
            required: ['id'],
            properties: {
              id: {
                type: 'integer',
                format: 'int64',
                description: 'Identification number of the plant',
              },
            },
          },
        ],
      },
      Error: {
        type: 'object',
        required: ['error', 'message'],
        properties: {
          error: { type: 'integer', format: 'int32', description: 'Numeric error value' },
          message: { type: 'string', description: 'Text describing the error' },
        },
      },
    },
    securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
  },
};

interface Example {
  readonly summary: string;
  readonly value: { readonly error?: number };
}

interface Response {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: {
    readonly 'application/json': {
      readonly schema: unknown;
      readonly examples: Readonly<Record<string, Example>>;
    };
  };
}

describe('The interface description', () => {
  const description = interfaceDescription('/store/v1');
  const text = JSON.stringify(description, null, 2);
  const printed = JSON.parse(text);
  const responses = Object.entries<Response>(printed.paths['/plants'].post.responses);

  it('contains the texts of the specification', () => {
    expectToContain(printed, specification);
  });

  it('leaves the schemas and the security scheme of the specification as they are', () => {
    expect(printed.components.schemas).to.deep.equal(specification.components.schemas);
    expect(printed.components.securitySchemes).to.deep.equal(
      specification.components.securitySchemes,
    );
  });

  it('adds no path, no method and no parameter', () => {
    expect(Object.keys(printed.paths)).to.deep.equal(['/plants']);
    expect(Object.keys(printed.paths['/plants'])).to.deep.equal(['post']);
    expect(text).not.to.include('"parameters"');
  });

  it('names the base path as the server, relative to its own origin', () => {
    expect(printed.servers[0].url).to.equal('/store/v1');
    expect(interfaceDescription().servers[0]?.url).to.equal('/');
  });

  it('has every failure of a create as an example of its status', () => {
    const described = responses
      .filter(([status]) => status !== '200')
      .flatMap(([status, { content }]) =>
        Object.entries(content['application/json'].examples).map(([code, { value }]) => ({
          code,
          status: Number(status),
          value,
        })),
      );
    const decided = Object.entries<Failure>(failures).map(([code, failure]) => ({
      code,
      status: failure.status,
      value: { error: failure.error, message: failure.message },
    }));
    expect(decided).to.include.deep.members(described);
    expect([...new Set(described.map(({ value }) => value.error))]).to.have.members([
      ...[4000, 4001, 4002, 4003, 4004, 4005, 4006, 4010, 4011, 4030, 4040, 4050, 4080, 4310],
      ...[5000, 5030, 5031, 5032],
    ]);
  });

  it('has examples with ids above 2^53 that a double represents exactly', () => {
    const { examples } = printed.paths['/plants'].post.requestBody.content['application/json'];
    const ids = [...text.matchAll(/"id": (\d+)/g)].map(([, id]) => id);
    expect(ids).to.deep.equal(['9007199254740994', '9007199254740996']);
    expect(examples.tagged.value.id).to.equal(9007199254740994);
  });

  it('has the headers that the failures of a status have', () => {
    for (const [status, { headers }] of responses) {
      const here = Object.values<Failure>(failures).filter((f) => f.status === Number(status));
      const challenged = here.filter(({ challenge }) => challenge !== undefined).length;
      const retried = here.filter(({ retryAfter }) => retryAfter !== undefined).length;
      const counts = [challenged, retried, status === '405' ? here.length : 0];
      const named = ['WWW-Authenticate', 'Retry-After', 'Allow'].map((name) => name in headers);
      expect(counts, status).to.deep.equal(named.map((present) => (present ? here.length : 0)));
      expect(headers, status).to.include.keys('X-Request-Id', 'Cache-Control');
    }
  });

  it('passes Spectral', async () => {
    const spectral = new spectralCore.Spectral();
    // The contact would be the operator, who is not known here.
    const ruleset = { extends: [oas as RulesetDefinition], rules: { 'info-contact': 'off' } };
    spectral.setRuleset(ruleset as RulesetDefinition);
    const found = await spectral.run(text);
    expect(found.map(({ code, message, path }) => ({ code, message, path }))).to.deep.equal([]);
  });

  it('passes Redocly', async () => {
    const config: Config = await createConfig({ extends: ['recommended-strict'] });
    const found = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    expect(found.map(({ ruleId, message }) => ({ ruleId, message }))).to.deep.equal([]);
  });
});

describe('docs/errors.md', () => {
  it('has exactly the errors of the service, each with its status and its advice', async () => {
    const page = await readFile(new URL('../../../../../docs/errors.md', import.meta.url), 'utf8');
    const rows = page.match(/^\| \d{4} \|.*\|$/gm);
    const statuses = new Map(Object.values<Failure>(failures).map((f) => [f.error, f.status]));
    const expected = Object.entries<FailureGuide>(failureGuide).map(
      ([error, { meaning, remedy, retry = 'No' }]) =>
        `| ${error} | ${statuses.get(Number(error))} | ${meaning} | ${remedy} | ${retry} |`,
    );
    expect(rows).to.deep.equal(expected);
    expect(statuses.size).to.equal(expected.length);
  });
});

/** Checks recursively that `whole` has every member of `part`; it may have others. */
function expectToContain(whole: unknown, part: object, path = '#'): void {
  for (const [name, value] of Object.entries(part)) {
    const found = (whole as Record<string, unknown> | undefined)?.[name];
    if (typeof value === 'object') expectToContain(found, value, `${path}/${name}`);
    else expect(found, `${path}/${name}`).to.equal(value);
  }
}
