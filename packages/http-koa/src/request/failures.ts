import { failuresOfCreate } from '@plant-store/plant-json';

/** The response to a failed request. Stable across releases. */
export interface Failure {
  /** The error number in the body. */
  readonly error: number;
  /** The message in the body, without values of the request. */
  readonly message: string;
  /** The status of the response. */
  readonly status: number;
  /** Whether the failure is a fault of the service, which is logged with its cause. */
  readonly ours?: true;
  /** The value of `Retry-After`, in seconds. */
  readonly retryAfter?: number;
  /** Whether the connection is closed, because the position of the next request is not certain. */
  readonly closes?: true;
  /** The value of `WWW-Authenticate` (RFC 6750 section 3). */
  readonly challenge?: string;
  /** The value of `Allow` (RFC 9110 section 10.2.1). */
  readonly allow?: string;
}

const CHALLENGE = 'Bearer realm="plant-store"';

const create = failuresOfCreate('the body');

/** All failures, by the `code` of the error that causes each. */
export const failures = {
  MALFORMED_REQUEST: {
    error: 4000,
    status: 400,
    message: 'the request is not valid HTTP/1.1 (RFC 9112)',
    closes: true,
  },
  BODY_MISSING: {
    error: 4001,
    status: 400,
    message: 'the body is missing: send a NewPlant as JSON',
  },
  MEDIA_TYPE_NOT_SUPPORTED: {
    error: 4002,
    status: 400,
    message: 'Content-Type must be application/json, in one header',
  },
  BODY_TOO_LARGE: { ...create.TOO_LARGE, status: 400 },
  INVALID_JSON: { ...create.INVALID_JSON, status: 400 },
  INVALID_NEW_PLANT: { ...create.INVALID_NEW_PLANT, status: 400 },
  PLANT_ID_TAKEN: { ...create.PLANT_ID_TAKEN, status: 400 },
  CREDENTIALS_MISSING: {
    error: 4010,
    status: 401,
    message: 'the bearer token is missing: send Authorization: Bearer <ACCESS_TOKEN>',
    challenge: CHALLENGE,
  },
  INVALID_TOKEN: {
    error: 4011,
    status: 401,
    message: 'the bearer token is malformed, unknown, expired, or not meant for this service',
    challenge: `${CHALLENGE}, error="invalid_token"`,
  },
  PERMISSION_DENIED: {
    error: 4030,
    status: 403,
    message: 'the bearer token does not permit this operation',
    challenge: `${CHALLENGE}, error="insufficient_scope"`,
  },
  PATH_NOT_FOUND: { error: 4040, status: 404, message: 'there is nothing at this path' },
  METHOD_NOT_ALLOWED: {
    error: 4050,
    status: 405,
    message: 'this method is not allowed here: the header Allow lists the allowed methods',
  },
  REQUEST_TIMEOUT: {
    error: 4080,
    status: 408,
    message: 'the request did not arrive in time',
    closes: true,
  },
  TOO_MANY_REQUESTS: {
    error: 4290,
    status: 429,
    message: 'this client sends too many requests: this one was not carried out',
    retryAfter: 1,
  },
  HEADERS_TOO_LARGE: {
    error: 4310,
    status: 431,
    message: 'the request must have at most 1000 headers, and 16 KiB of request line and headers',
    closes: true,
  },
  INTERNAL: { ...create.INTERNAL, status: 500, ours: true },
  STORAGE_UNAVAILABLE: {
    ...create.STORAGE_UNAVAILABLE,
    status: 503,
    message: 'the storage cannot be reached: the request was not carried out',
    ours: true,
    retryAfter: 1,
  },
  TOKEN_VERIFIER_UNAVAILABLE: {
    error: 5030,
    status: 503,
    message: 'the token cannot be verified now: the request was not carried out',
    ours: true,
    retryAfter: 1,
  },
  OUTCOME_UNKNOWN: { ...create.OUTCOME_UNKNOWN, status: 503, ours: true, retryAfter: 1 },
  OVERLOADED: {
    error: 5032,
    status: 503,
    message: 'too many requests are in flight: this one was not carried out',
    retryAfter: 1,
  },
  STOPPING: {
    error: 5032,
    status: 503,
    message: 'the service is stopping: the request was not carried out',
    retryAfter: 1,
  },
} as const satisfies Record<string, Failure>;

/** The `code` of an error that has its own failure. */
export type FailureCode = keyof typeof failures;

/** An error with which the HTTP adapter refuses a request. Its message may be more exact than that of the table. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: FailureCode;
  /** The headers that the table cannot know. */
  readonly headers: Pick<Failure, 'allow' | 'retryAfter'>;

  constructor(
    code: FailureCode,
    message: string = failures[code].message,
    headers: Pick<Failure, 'allow' | 'retryAfter'> = {},
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** The errors of `plant-json` and the domain whose own message is sent to the client. */
const NAME_THE_RULE: ReadonlySet<FailureCode> = new Set(['INVALID_JSON', 'INVALID_NEW_PLANT']);

/** Returns the failure for an error. An unknown error is a bug, whose failure is constant and reveals nothing. */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return failures.INTERNAL;
  const code = codeOf(error);
  if (code === undefined) return exposedFailure(error) ?? failures.INTERNAL;
  const { message } = error;
  if (error instanceof HttpError) return { ...failures[code], message, ...error.headers };
  return NAME_THE_RULE.has(code) ? { ...failures[code], message } : failures[code];
}

function codeOf(error: Error): FailureCode | undefined {
  if (!('code' in error)) return undefined;
  return Object.hasOwn(failures, String(error.code)) ? (error.code as FailureCode) : undefined;
}

/**
 * The failure for an error that third-party middleware exposes to the client, for example with Koa's
 * `ctx.throw(429, 'slow down')`. Its number is ten times its status.
 */
function exposedFailure(error: Error): Failure | undefined {
  if (!('expose' in error && 'status' in error) || error.expose !== true) return undefined;
  const status = Number(error.status);
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined;
  const failure = { error: status * 10, status, message: error.message };
  return status < 500 ? failure : { ...failure, ours: true };
}

/** Returns the headers of an error that third-party middleware exposes to the client: `ctx.throw(429, { headers })`. */
export function exposedHeaders(error: unknown): Record<string, string[]> {
  if (!(error instanceof Error && 'headers' in error) || !exposedFailure(error)) return {};
  const headers = Object.entries(error.headers ?? {});
  return Object.fromEntries(headers.map(([name, value]) => [name, [value].flat().map(String)]));
}
