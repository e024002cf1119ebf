import { maxHeaderSize } from 'node:http';
import { type CreateFailure, failuresOfCreate } from '@plant-store/plant-json';

/** The response to a failed request. Stable across releases. */
export interface Failure {
  /** The error number in the body. */
  readonly error: number;
  /** The message in the body, without values of the request. */
  readonly message: string;
  /** The status of the response: the error number without its last digit. */
  readonly status: number;
  /** Whether the service is at fault. Such a failure is logged with its cause. */
  readonly ours?: true;
  /** The value of `Retry-After`, in seconds. */
  readonly retryAfter?: number;
  /** The value of `WWW-Authenticate` (RFC 6750 section 3). */
  readonly challenge?: string;
  /** The value of `Allow` (RFC 9110 section 10.2.1). */
  readonly allow?: string;
}

const CHALLENGE = 'Bearer realm="plant-store"';
const LATER = { retryAfter: 1 };
const OUTAGE = { ours: true, ...LATER } as const;

const create = failuresOfCreate('the body');

/** All failures, by the `code` of the error that causes each. The OpenAPI description has a sentence for each status. */
export const failures = {
  MALFORMED_REQUEST: failure(4000, 'the request is not valid HTTP/1.1 (RFC 9112)'),
  BODY_MISSING: failure(4001, 'the body is missing: send a NewPlant as JSON'),
  MEDIA_TYPE_NOT_SUPPORTED: failure(4002, 'Content-Type must be application/json, in one header'),
  BODY_TOO_LARGE: ofCreate(create.TOO_LARGE),
  INVALID_JSON: ofCreate(create.INVALID_JSON),
  INVALID_NEW_PLANT: ofCreate(create.INVALID_NEW_PLANT),
  PLANT_ID_TAKEN: ofCreate(create.PLANT_ID_TAKEN),
  CREDENTIALS_MISSING: failure(
    4010,
    'the bearer token is missing: send Authorization: Bearer <ACCESS_TOKEN>',
    { challenge: CHALLENGE },
  ),
  INVALID_TOKEN: failure(
    4011,
    'the bearer token is malformed, unknown, expired, or not meant for this service',
    { challenge: `${CHALLENGE}, error="invalid_token"` },
  ),
  PERMISSION_DENIED: failure(4030, 'the bearer token does not permit this operation', {
    challenge: `${CHALLENGE}, error="insufficient_scope"`,
  }),
  PATH_NOT_FOUND: failure(4040, 'there is nothing at this path'),
  METHOD_NOT_ALLOWED: failure(
    4050,
    'this method is not allowed here: the header Allow lists the allowed methods',
  ),
  REQUEST_TIMEOUT: failure(4080, 'the request did not arrive in time'),
  TOO_MANY_REQUESTS: failure(
    4290,
    'this client sends too many requests: this one was not carried out',
    LATER,
  ),
  HEADERS_TOO_LARGE: failure(
    4310,
    `the request must have at most 1000 headers, and ${maxHeaderSize} bytes of request line and headers`,
  ),
  INTERNAL: ofCreate(create.INTERNAL, { ours: true }),
  STORE_UNAVAILABLE: failure(
    create.STORE_UNAVAILABLE.error,
    'the database is unavailable: the request was not carried out',
    OUTAGE,
  ),
  TOKEN_VERIFIER_UNAVAILABLE: failure(
    5030,
    'the token cannot be verified now: the request was not carried out',
    OUTAGE,
  ),
  OUTCOME_UNKNOWN: ofCreate(create.OUTCOME_UNKNOWN, OUTAGE),
  OVERLOADED: failure(5032, 'too many requests are in flight: this one was not carried out', LATER),
  STOPPING: failure(5032, 'the service is stopping: the request was not carried out', LATER),
};

function failure(error: number, message: string, more: Partial<Failure> = {}): Failure {
  return { error, message, status: Math.floor(error / 10), ...more };
}

function ofCreate({ error, message }: CreateFailure, more?: Partial<Failure>): Failure {
  return failure(error, message, more);
}

/** The `code` of an error that has its own failure. */
export type FailureCode = keyof typeof failures;

/** Refuses a request. Its message may be more specific than the one in the table. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: FailureCode;
  /** Headers that depend on the request, so the table cannot list them. */
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

/** The errors of the server, `plant-json` and the domain whose own message is sent to the client. */
const NAME_THE_RULE: ReadonlySet<FailureCode> = new Set([
  'MALFORMED_REQUEST',
  'INVALID_JSON',
  'INVALID_NEW_PLANT',
]);

/** Returns the failure for an error. An unlisted error is a bug, whose failure is constant and reveals nothing. */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return failures.INTERNAL;
  const code = codeOf(error);
  if (code === undefined) return failures.INTERNAL;
  const { message } = error;
  if (error instanceof HttpError) return { ...failures[code], message, ...error.headers };
  return NAME_THE_RULE.has(code) ? { ...failures[code], message } : failures[code];
}

function codeOf(error: Error): FailureCode | undefined {
  if (!('code' in error)) return undefined;
  return Object.hasOwn(failures, String(error.code)) ? (error.code as FailureCode) : undefined;
}
