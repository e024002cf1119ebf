import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { InvalidTokenError } from '@plant-store/domain';
import { HttpError } from './failures.js';

/** Returns whether a request has several headers of this lower-case name. `headers` may contain only the first. */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const field = rawHeaders[at];
    if (field?.length === name.length && field.toLowerCase() === name) found += 1;
  }
  return found > 1;
}

/** Returns whether the headers announce a body (RFC 9112 section 6.3). A chunked one may be empty. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A list that contains `upgrade` (RFC 9110 section 7.8). */
const UPGRADE = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/** Returns whether a request offers an upgrade. Node.js's parser looks for the option in `Proxy-Connection`, too. */
export function offersUpgrade({ headers }: IncomingMessage): boolean {
  if (!headers.upgrade) return false;
  const { connection = '', 'proxy-connection': proxyConnection = '' } = headers;
  return UPGRADE.test(connection) || UPGRADE.test(`${proxyConnection}`);
}

/** The maximum number of headers in a request. The limit of 16 KiB ignores separators: 60 KB of short headers would use 400 KiB. */
export const MAX_HEADERS = 1000;

/** RFC 3986 section 3.2: a name or an address, perhaps empty, perhaps with a port. */
const HOST = /^(?:\[[0-9A-Fa-fv:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?$/;

/** RFC 9110 section 10.1.1: the only expectation. */
const isContinue = (expectation: string) => expectation.toLowerCase() === '100-continue';

/**
 * Checks the HTTP/1.1 rules that Node's parser does not enforce and that proxies must agree on: the version, one valid
 * `Host` (RFC 9112 section 3.2), `chunked` alone, and not in HTTP/1.0 (section 6.1), and `Expect`.
 *
 * @throws {HttpError} `MALFORMED_REQUEST`, or `HEADERS_TOO_LARGE` if there are too many.
 */
export function checkHttp(request: IncomingMessage): void {
  const { httpVersion, rawHeaders } = request;
  // Node.js may have dropped some of them, such as `Content-Length`.
  if (rawHeaders.length > 2 * MAX_HEADERS) throw new HttpError('HEADERS_TOO_LARGE');
  const { host, 'transfer-encoding': coding, expect } = request.headers;
  const isOld = httpVersion === '1.0';
  if (!isOld && httpVersion !== '1.1') throw malformed('the version must be HTTP/1.1 or HTTP/1.0');
  if (host === undefined ? !isOld : isRepeated(request, 'host')) {
    throw malformed('the request must have exactly one Host header');
  }
  if (host !== undefined && !HOST.test(host)) {
    throw malformed('Host must be a name or an address, with or without a port');
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw malformed('Transfer-Encoding must be chunked, in one header');
  }
  if (coding !== undefined && isOld) {
    throw malformed(
      'Transfer-Encoding is not part of HTTP/1.0: send Content-Length, or use HTTP/1.1',
    );
  }
  if (expect !== undefined && !request.headersDistinct.expect?.every(isContinue)) {
    throw malformed('Expect must be 100-continue');
  }
}

function malformed(rule: string): HttpError {
  return new HttpError('MALFORMED_REQUEST', rule);
}

/** Matches the scheme, but not a longer scheme that begins with it (RFC 9110 section 5.6.2). */
const BEARER = /^bearer(?![!#$%&'*+.^_`|~0-9a-z-])/i;

/** RFC 6750 section 2.1: one b64token after at least one space. */
const CREDENTIALS = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Returns the bearer token of a request.
 *
 * @throws {HttpError} `CREDENTIALS_MISSING` if there are no credentials, or if they use another scheme.
 * @throws {InvalidTokenError} if the token is malformed, or there are two.
 */
export function bearerToken(request: IncomingMessage): string {
  const { authorization } = request.headers;
  const isOne = authorization !== undefined && !isRepeated(request, 'authorization');
  const token = isOne ? CREDENTIALS.exec(authorization)?.[1] : undefined;
  if (token !== undefined) return token;
  if (authorization === undefined || (isOne && !BEARER.test(authorization))) {
    throw new HttpError('CREDENTIALS_MISSING');
  }
  throw new InvalidTokenError('the token is malformed', { reason: 'malformed' });
}

/** A request id that a client may choose. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the request id that the client has sent, if there is exactly one and it is valid; otherwise a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

const METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '));

/** Returns a method, or `_OTHER`: clients must not add label values (OpenTelemetry, semantic conventions for HTTP metrics). */
export function countedMethod(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : '_OTHER';
}
