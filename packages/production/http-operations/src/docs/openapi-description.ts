import type { Plant } from '@plant-store/domain';
import type { Failure } from '@plant-store/http-koa';
import { type FailureStatus, failures } from '../operation-failures.js';

/** Identifies a build of the service. */
export interface Build {
  /** A semantic version, such as `2.3.0+abc1234`, or `2.4.0-dev+abc1234` between releases. */
  readonly version: string;
  /** The whole hash, if it is known. */
  readonly commit?: string | undefined;
}

/** What the OpenAPI description says about this service. */
export interface DescriptionOptions {
  /** The path before `/plants`: empty, or segments such as `/store/v1`. Empty by default. */
  readonly basePath?: string | undefined;
  /** The address at which clients reach the service, without `basePath`. By default, readers fill in `{base_url}`. */
  readonly publicUrl?: string | undefined;
  /** The address on this machine, which `{base_url}` has until it is filled in. `http://127.0.0.1:3000` by default. */
  readonly localUrl?: string | undefined;
  /** The build that serves the description, shown as `x-build`. None by default. */
  readonly build?: Build | undefined;
}

const STATUSES: Readonly<Record<FailureStatus, string>> = {
  400: 'An error occurred: the request is invalid, or its `id` is taken. Nothing was stored.',
  401: 'The bearer token is missing or invalid. Nothing was stored.',
  403: 'The bearer token does not permit this operation. Nothing was stored.',
  404: 'The path does not exist; perhaps the base path is missing.',
  405: 'The path does not allow this method. A redirect may have turned a `POST` into a `GET`.',
  408: 'The request did not arrive in time. Nothing was stored.',
  429: 'The client sent too many requests. Nothing was stored. Retry after the time in `Retry-After`.',
  431: 'The headers are too large. Nothing was stored.',
  500: 'A bug in the service: the outcome is unknown. Report it to the operator.',
  503: 'The service cannot process the request right now. After a 5030 or 5032, nothing was stored; otherwise the outcome is unknown. Retry the same request after the time in `Retry-After`.',
};

/**
 * Returns the OpenAPI description of the service. It contains docs/specification.md unchanged, and every failure from the
 * table of failures. The version is of the specification, not of the build. The format is OpenAPI 3.0, the only one that
 * the importers of Amazon API Gateway, Azure API Management and WSO2 accept.
 */
export function openApiDescription(options: DescriptionOptions = {}) {
  const { build } = options;
  return {
    openapi: '3.0.3',
    info: {
      title: 'Plant Store',
      version: '1.0.0',
      description:
        'A small store of plants. An authenticated client creates plants with `POST /plants`. Every 4xx and 5xx response has an `Error` body, whose number never changes its meaning.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      ...(build && { 'x-build': build }),
    },
    servers: [serverOf(options)],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'plants', description: 'Create plants' }],
    paths: { '/plants': { post: describedCreatePlant() } },
    components: {
      schemas,
      headers,
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
    },
  };
}

/** A relative address would send the tokens of readers to whoever serves a copy of the description. */
function serverOf({
  basePath = '',
  publicUrl,
  localUrl = 'http://127.0.0.1:3000',
}: DescriptionOptions) {
  if (publicUrl !== undefined) return { url: `${publicUrl}${basePath}` };
  const description = 'The address of the service. The default is on this machine';
  return {
    url: '{base_url}',
    variables: { base_url: { default: `${localUrl}${basePath}`, description } },
  };
}

/** Below 2^53, because tools that show or send the first example often read numbers as doubles. */
const EXAMPLE_ID = 7_301_846_255_019_362;

/** Above 2^53, but exact as a double. */
const LARGE_EXAMPLE_ID = 9_007_199_254_740_994;

function examples(tagged: { id?: number }, untagged: { id?: number }) {
  const [name, tag] = ['Monstera deliciosa', 'tropical'];
  return {
    tagged: { summary: 'A plant with a tag', value: { ...tagged, name, tag } },
    untagged: { summary: 'A plant without a tag', value: { ...untagged, name: 'Bellis perennis' } },
  };
}

function describedCreatePlant() {
  return {
    operationId: 'createPlant',
    tags: ['plants'],
    summary: 'Create a plant',
    description:
      'A 200 means the plant is stored. An `id` identifies one plant: a second request with the same `id` is an error, even if the content is the same. The service preserves every digit of an `id`, even beyond 2^53.',
    requestBody: {
      description: 'The plant to create. Properties other than `id`, `name` and `tag` are ignored.',
      required: true,
      content: json('NewPlant', examples({ id: EXAMPLE_ID }, { id: LARGE_EXAMPLE_ID })),
    },
    responses: { 200: created(), ...refused() },
  };
}

function created() {
  const content = json('Plant', examples({}, {}));
  return { description: 'The plant is created', headers: headersOf(), content };
}

/** Returns the responses for all failures, by status. */
function refused() {
  const responses = Object.entries(STATUSES).map(([status, description]) => {
    const here = Object.entries(failures).filter(([, it]) => it.status === Number(status));
    const examples = Object.fromEntries(here.map(([code, failure]) => [code, example(failure)]));
    const headers = headersOf(here[0]?.[1]);
    return [status, { description, headers, content: json('Error', examples) }];
  });
  return Object.fromEntries(responses);
}

function headersOf(failure?: Failure) {
  const names: (keyof typeof headers)[] = ['X-Request-Id', 'Cache-Control'];
  if (failure?.challenge !== undefined) names.push('WWW-Authenticate');
  if (failure?.retryAfter !== undefined) names.push('Retry-After');
  if (failure?.status === 405) names.push('Allow');
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function example({ error, message }: Failure) {
  return { summary: `${error}: ${message}`, value: { error, message } };
}

function json<Examples extends object>(schema: keyof typeof schemas, examples: Examples) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples } };
}

/** Source: docs/specification.md, "Resources and their fields". */
const schemas = {
  Plant: object(['name'], {
    // Does not compile if a field of the domain is missing.
    name: { type: 'string', description: 'The name of the plant' },
    tag: { type: 'string', description: 'Tag that specifies the type of the plant' },
  } satisfies Record<keyof Plant, object>),
  NewPlant: {
    allOf: [
      { $ref: '#/components/schemas/Plant' },
      object(['id'], {
        id: { type: 'integer', format: 'int64', description: 'Identification number of the plant' },
      }),
    ],
  },
  Error: object(['error', 'message'], {
    error: { type: 'integer', format: 'int32', description: 'Numeric error value' },
    message: { type: 'string', description: 'Text describing the error' },
  }),
};

function object(required: readonly string[], properties: object) {
  return { type: 'object', required, properties };
}

const text = { type: 'string' };

const headers = {
  'X-Request-Id': required(
    'Identifies the request in the service log. It repeats the `X-Request-Id` of the request if there was exactly one, of 1 to 128 characters from `A-Za-z0-9._-`; otherwise it is new.',
    { ...text, pattern: '^[A-Za-z0-9._-]{1,128}$' },
  ),
  'Cache-Control': required('Responses must not be cached.', { ...text, enum: ['no-store'] }),
  'WWW-Authenticate': required(
    'The required credentials, and why the ones sent were rejected (RFC 6750).',
    text,
    failures.INVALID_TOKEN.challenge,
  ),
  'Retry-After': required(
    'Seconds to wait before retrying. The service sends 1; a proxy may send more. Clients wait 60 at most.',
    { type: 'integer', minimum: 0 },
    failures.STORE_UNAVAILABLE.retryAfter,
  ),
  Allow: required('The methods allowed on this path.', text, 'POST'),
};

/** Returns a header that is always present in the responses that list it. */
function required(description: string, schema: object, example?: string | number) {
  return { description, required: true, schema, ...(example === undefined ? {} : { example }) };
}
