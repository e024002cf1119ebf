import { IncomingMessage } from 'node:http';
import { HttpError } from './failures.js';
import { fieldValues } from './header-fields.js';
import { headSize, refuseFailed } from './received-request.js';

/** The most header fields of a request. */
export const MAX_FIELDS = 1000;

/** The largest request line and headers together, in bytes. */
export const MAX_HEADER_BYTES = 16_384;

/** RFC 9112 section 3.2, RFC 3986 section 3.2: a name or an address, perhaps empty, perhaps with a port. */
const HOST = /^(?:\[[0-9A-Fa-fv:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?$/;

const NO_AUTHORITY = /^https?:\/\/(?:[/?]|$)/i;

/**
 * Checks the rules of HTTP that the parser of Node.js does not check.
 *
 * @throws {HttpError} `MALFORMED_REQUEST` or `HEADERS_TOO_LARGE`.
 */
export function checkHttp(request: IncomingMessage): void {
  refuseFailed(request);
  // The sessions of HTTP/2 in Node.js check the rest themselves.
  const isHttp1 = request instanceof IncomingMessage;
  if (isHttp1) checkVersion(request);
  checkHeaderSize(request);
  if (!isHttp1) return;
  checkTarget(request);
  checkHost(request);
  checkTransferEncoding(request);
  checkExpect(request);
}

function checkVersion({ httpVersion }: IncomingMessage): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw malformed('the version must be HTTP/1.1 or HTTP/1.0');
  }
}

/** Node.js counts the fields without their separators. */
function checkHeaderSize(request: IncomingMessage): void {
  if (request.rawHeaders.length / 2 > MAX_FIELDS || headSize(request) > MAX_HEADER_BYTES) {
    throw new HttpError('HEADERS_TOO_LARGE');
  }
}

/** RFC 9112 section 3.2.2: the absolute form names a host. */
function checkTarget({ url = '' }: IncomingMessage): void {
  if (NO_AUTHORITY.test(url)) {
    throw malformed('the request target must contain a host');
  }
}

/** RFC 9112 section 3.2: exactly one `Host`, which is optional in HTTP/1.0. */
function checkHost(request: IncomingMessage): void {
  const [host, another] = fieldValues(request, 'host');
  if (another !== undefined || (host === undefined && request.httpVersion !== '1.0')) {
    throw malformed('the request must have exactly one Host header');
  }
  if (host !== undefined && !HOST.test(host)) {
    throw malformed('Host must be a name or an address, with or without a port');
  }
}

/** RFC 9112 section 6.1: `chunked` alone, and not in HTTP/1.0. */
function checkTransferEncoding(request: IncomingMessage): void {
  const [coding, another] = fieldValues(request, 'transfer-encoding');
  if (coding === undefined) return;
  if (another !== undefined || coding.toLowerCase() !== 'chunked') {
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
  for (const expectation of fieldValues(request, 'expect')) {
    if (expectation.toLowerCase() !== '100-continue') {
      throw malformed('Expect must be 100-continue');
    }
  }
}

function malformed(rule: string): HttpError {
  return new HttpError('MALFORMED_REQUEST', rule);
}
