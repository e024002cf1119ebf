import { type Failure, toFailure } from './failures.js';

/** A response, before it is sent. */
export interface Response {
  readonly status: number;
  /** Alternating names and values, without `Content-Length` and `X-Request-Id`. */
  readonly headers: readonly string[];
  /** The body; `undefined` for a response without content (RFC 9110 section 15.4.5). */
  readonly body: string | Buffer | undefined;
  /** The failure that the response reports, if any. */
  readonly failure?: Failure;
}

const JSON_HEADERS = Object.entries({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
}).flat();

/** Returns an uncacheable JSON response. */
export function jsonResponse(status: number, value: object): Response {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

/** Returns the response to a failed request. Every response but a 2xx or 304 has this form. Source: docs/specification.md, "Error". */
export function failureResponse(cause: unknown): Response & { readonly failure: Failure } {
  const failure = toFailure(cause);
  const { status, error, message, challenge, retryAfter, allow } = failure;
  const headers = [...JSON_HEADERS];
  if (challenge !== undefined) headers.push('WWW-Authenticate', challenge);
  if (retryAfter !== undefined) headers.push('Retry-After', `${retryAfter}`);
  if (allow !== undefined) headers.push('Allow', allow);
  return { status, headers, body: JSON.stringify({ error, message }), failure };
}
