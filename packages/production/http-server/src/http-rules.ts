import type { IncomingMessage } from 'node:http';
import { RequestError } from './request-error.js';

/** A list that contains `upgrade` (RFC 9110 section 7.8). */
const UPGRADE = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/** Returns whether a request asks for an upgrade. Node.js's parser reads the option even from `Proxy-Connection`. */
export function requestsUpgrade({ headers }: IncomingMessage): boolean {
  if (!headers.upgrade) return false;
  const { connection = '', 'proxy-connection': proxyConnection = '' } = headers;
  return UPGRADE.test(connection) || UPGRADE.test(`${proxyConnection}`);
}

/**
 * The maximum number of headers in a request. Node.js's limit of 16 KiB ignores separators, so short headers could take many
 * times as much memory.
 */
export const MAX_HEADERS = 1000;

/** RFC 3986 section 3.2: a name or an address, perhaps empty, perhaps with a port. */
const HOST = /^(?:\[[0-9A-Fa-fv:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?$/;

/** A target with a fragment. */
const FRAGMENT = /^[^?]*#/;

/** A path or `*`. */
const PATH = /^[/*]/;

/** A URL of HTTP, and its host with the port. */
const HTTP_URL = /^https?:\/\/([^/?]+)/i;

/** RFC 9110 section 10.1.1: the only expectation. */
const isContinue = (expectation: string) => expectation.toLowerCase() === '100-continue';

/**
 * Checks the HTTP/1.1 rules that Node's parser does not enforce and that proxies must agree on: the version, one valid
 * `Host` (RFC 9112 section 3.2), `chunked` alone, and not in HTTP/1.0 (section 6.1), and `Expect`.
 *
 * @throws {RequestError} `MALFORMED_REQUEST`, or `HEADERS_TOO_LARGE` if there are too many.
 */
export function checkHttp(request: IncomingMessage): void {
  const { httpVersion, rawHeaders } = request;
  // Node.js may have dropped some of them, such as `Content-Length`.
  if (rawHeaders.length > 2 * MAX_HEADERS) throw new RequestError('HEADERS_TOO_LARGE');
  if (!isTarget(request.url ?? '')) throw malformed('the request target must be a path or a URL');
  const { host, 'transfer-encoding': coding, expect } = request.headers;
  const isOld = httpVersion === '1.0';
  if (!isOld && httpVersion !== '1.1') throw malformed('the version must be HTTP/1.1 or HTTP/1.0');
  if (host === undefined ? !isOld : valuesOf(request, 'host').length > 1) {
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
  if (expect !== undefined && !valuesOf(request, 'expect').every(isContinue)) {
    throw malformed('Expect must be 100-continue');
  }
}

/** Returns whether a valid request waits for `100 Continue`. RFC 9110 section 10.1.1: in HTTP/1.0, or without a body, none does. */
export function expectsContinue(request: IncomingMessage): boolean {
  const { headers, httpVersion } = request;
  return headers.expect !== undefined && httpVersion === '1.1' && hasUnreadBody(request);
}

/**
 * Returns whether a target is a path, a URL or `*` (RFC 9112 section 3.2). Frameworks would cut off a fragment, take the path
 * of any URL, and throw for an invalid host, such as `[::1` or `256.0.0.1`.
 */
function isTarget(target: string): boolean {
  if (FRAGMENT.test(target)) return false;
  if (PATH.test(target)) return true;
  const [, host] = HTTP_URL.exec(target) ?? [];
  return host !== undefined && HOST.test(host) && URL.canParse(target);
}

function malformed(rule: string): RequestError {
  return new RequestError('MALFORMED_REQUEST', rule);
}

/**
 * Returns every value of the headers with this lower-case name; `headers` may contain only the first. `headersDistinct` throws
 * for a header `__proto__`, before Node.js 20.20.2 (CVE-2026-21710).
 */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const field = rawHeaders[at] ?? '';
    if (field.length === name.length && field.toLowerCase() === name)
      values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}

/** Returns whether a body is still unread, wholly or partly: it stands before the next request of the connection. */
export function hasUnreadBody({ headers, complete, readableLength }: IncomingMessage): boolean {
  const isAnnounced =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return isAnnounced && !(complete && readableLength === 0);
}
