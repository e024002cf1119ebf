import { maxHeaderSize } from 'node:http';
import { failuresOfCreate } from '@plant-store/plant-json';

/** The response to a failed request. Stable across releases. */
export interface Failure {
  /** The error number in the body. */
  readonly error: number;
  /** The message in the body, without values of the request. */
  readonly message: string;
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
const OUTAGE = { ours: true, retryAfter: 1 } as const;

const create = failuresOfCreate('the body');

/** All failures, by name. An error whose `code` is a name causes that failure. */
const rows = {
  MALFORMED_REQUEST: {
    status: 400,
    error: 4000,
    message: 'the request is not valid HTTP/1.1 (RFC 9112)',
  },
  BODY_MISSING: {
    status: 400,
    error: 4001,
    message: 'the body is missing: send a NewPlant as JSON',
  },
  MEDIA_TYPE_NOT_SUPPORTED: {
    status: 400,
    error: 4002,
    message: 'Content-Type must be application/json, in one header',
  },
  BODY_TOO_LARGE: { status: 400, ...create.TOO_LARGE },
  INVALID_JSON: { status: 400, ...create.INVALID_JSON },
  INVALID_NEW_PLANT: { status: 400, ...create.INVALID_NEW_PLANT },
  PLANT_ID_TAKEN: { status: 400, ...create.PLANT_ID_TAKEN },
  CREDENTIALS_MISSING: {
    status: 401,
    error: 4010,
    message: 'the bearer token is missing: send Authorization: Bearer <ACCESS_TOKEN>',
    challenge: CHALLENGE,
  },
  INVALID_TOKEN: {
    status: 401,
    error: 4011,
    message: 'the bearer token is malformed, unknown, expired, or not meant for this service',
    challenge: `${CHALLENGE}, error="invalid_token"`,
  },
  PERMISSION_DENIED: {
    status: 403,
    error: 4030,
    message: 'the bearer token does not permit this operation',
    challenge: `${CHALLENGE}, error="insufficient_scope"`,
  },
  PATH_NOT_FOUND: { status: 404, error: 4040, message: 'there is nothing at this path' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    error: 4050,
    message: 'this method is not allowed here: the header Allow lists the allowed methods',
  },
  REQUEST_TIMEOUT: { status: 408, error: 4080, message: 'the request did not arrive in time' },
  HEADERS_TOO_LARGE: {
    status: 431,
    error: 4310,
    message: `too many or too large headers: at most 1000 headers, and ${maxHeaderSize} bytes of request line and headers`,
  },
  INTERNAL: { status: 500, ...create.INTERNAL, ours: true },
  STORE_UNAVAILABLE: {
    status: 503,
    error: create.STORE_UNAVAILABLE.error,
    // `/readyz` responds with it, too, so it does not mention a plant.
    message: 'the database is unavailable: the request was not carried out',
    ...OUTAGE,
  },
  TOKEN_VERIFIER_UNAVAILABLE: {
    status: 503,
    error: 5030,
    message: 'the token cannot be verified now: the request was not carried out',
    ...OUTAGE,
  },
  OUTCOME_UNKNOWN: { status: 503, ...create.OUTCOME_UNKNOWN, ...OUTAGE },
} as const satisfies Record<string, Failure>;

/** The `code` of an error that has its own failure. */
export type FailureCode = keyof typeof rows;

/** The status of a failure. The OpenAPI description has a sentence for each. */
export type FailureStatus = (typeof rows)[FailureCode]['status'];

export const failures: Readonly<Record<FailureCode, Failure>> = rows;

/** Refuses a request with a failure, which may differ from the one in the table, for example in its message. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}
