import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { InvalidTokenError } from '@plant-store/domain';
import { HttpError } from './failures.js';

/**
 * Returns the values of all headers of this name, as they were sent. `headers` of Node.js has only the first of
 * several, and `headersDistinct` of Node.js 20.19 throws for a header named `__proto__`.
 *
 * @param name The name in lower case.
 */
export function headerValues({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  const value = headers[name];
  if (value === undefined) return [];
  // A request of another server, such as an adapter for a cloud function, may have no raw headers.
  if (rawHeaders.length === 0) return [value].flat();
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index];
    if (field?.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[index + 1] ?? '');
    }
  }
  return values;
}

/** Returns whether the headers announce a body, which may be empty (RFC 9112 section 6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Checks the rules of HTTP/1.1 that the parser of Node.js does not check, and that proxies must agree about.
 *
 * @throws {HttpError} `MALFORMED_REQUEST`.
 */
export function checkHttp(request: IncomingMessage): void {
  const { httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw malformed('the version must be HTTP/1.1 or HTTP/1.0');
  }
  checkHost(request);
  if (request.headers['transfer-encoding'] !== undefined) checkTransferEncoding(request);
  if (request.headers.expect !== undefined) checkExpect(request);
}

/** RFC 3986 section 3.2: a name or an address, perhaps empty, perhaps with a port. */
const HOST = /^(?:\[[0-9A-Fa-fv:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?$/;

/** RFC 9112 section 3.2: exactly one valid `Host`, which is optional in HTTP/1.0. */
function checkHost(request: IncomingMessage): void {
  const [host, another] = headerValues(request, 'host');
  if (another !== undefined || (host === undefined && request.httpVersion !== '1.0')) {
    throw malformed('the request must have exactly one Host header');
  }
  if (host !== undefined && !HOST.test(host)) {
    throw malformed('Host must be a name or an address, with or without a port');
  }
}

/** RFC 9112 section 6.1: `chunked` alone, and not in HTTP/1.0. */
function checkTransferEncoding(request: IncomingMessage): void {
  const [coding, another] = headerValues(request, 'transfer-encoding');
  if (another !== undefined || coding?.toLowerCase() !== 'chunked') {
    throw malformed('Transfer-Encoding must be chunked, in one header');
  }
  if (request.httpVersion === '1.0') {
    throw malformed(
      'Transfer-Encoding is not part of HTTP/1.0: send Content-Length, or use HTTP/1.1',
    );
  }
}

/** RFC 9110 section 10.1.1: the only expectation is `100-continue`. */
function checkExpect(request: IncomingMessage): void {
  for (const expectation of headerValues(request, 'expect')) {
    if (expectation.toLowerCase() !== '100-continue') {
      throw malformed('Expect must be 100-continue');
    }
  }
}

function malformed(rule: string): HttpError {
  return new HttpError('MALFORMED_REQUEST', rule);
}

/** Longer tokens are refused without calling the verifier; in bytes. */
const MAX_TOKEN_LENGTH = 8192;

/** Matches the scheme, but not a longer scheme that begins with it (RFC 9110 section 5.6.2). */
const BEARER = /^bearer(?![!#$%&'*+.^_`|~0-9a-z-])/i;

/** RFC 6750 section 2.1: one b64token after at least one space. */
const CREDENTIALS = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Returns the bearer token of a request.
 *
 * @throws {HttpError} `CREDENTIALS_MISSING` when there are no credentials, or those of another scheme.
 * @throws {InvalidTokenError} when the token is malformed, or there are two.
 */
export function bearerToken(request: IncomingMessage): string {
  const [credentials, another] = headerValues(request, 'authorization');
  if (another !== undefined) throw malformedToken();
  if (credentials === undefined) throw new HttpError('CREDENTIALS_MISSING');
  const token = CREDENTIALS.exec(credentials)?.[1];
  if (token !== undefined && token.length <= MAX_TOKEN_LENGTH) return token;
  if (!BEARER.test(credentials)) throw new HttpError('CREDENTIALS_MISSING');
  throw malformedToken();
}

function malformedToken(): InvalidTokenError {
  return new InvalidTokenError('the token is malformed', { reason: 'malformed' });
}

/** A request id that a client may choose. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Makes request ids from a random prefix, which differs between instances, and a number. */
export class RequestIds {
  readonly #prefix = randomBytes(9).toString('base64url');
  #count = 0;

  /** Returns the id that the client sent, if it is valid and there is only one; otherwise a new one. */
  of(request: IncomingMessage): string {
    const [given, another] = headerValues(request, 'x-request-id');
    const isAccepted = given !== undefined && another === undefined && REQUEST_ID.test(given);
    return isAccepted ? given : this.next();
  }

  /** Returns a new id. */
  next(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }
}
