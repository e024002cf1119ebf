import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { HttpError } from './failures.js';
import { fieldValues } from './header-fields.js';

/** More fields than this are refused. */
export const MAX_FIELDS = 1000;

/** Refuses what Node's parser lets pass though it is not HTTP as this service understands it. */
export function checkHttp(): Middleware {
  return function checkHttp(ctx, next) {
    checkFieldCount(ctx.req);
    checkHost(ctx.req);
    checkTransferEncoding(ctx.req);
    checkExpect(ctx.req);
    return next();
  };
}

function checkFieldCount({ rawHeaders }: IncomingMessage): void {
  if (rawHeaders.length / 2 > MAX_FIELDS) throw new HttpError('HEADERS_TOO_LARGE');
}

/** RFC 9112 section 3.2: exactly one `Host`, which HTTP/1.0 may leave out. */
function checkHost(request: IncomingMessage): void {
  const hosts = fieldValues(request, 'host').length;
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) {
    throw new HttpError('MALFORMED_REQUEST', 'the request must have exactly one Host header');
  }
}

/** RFC 9112 section 6.1: `chunked` alone, and not in HTTP/1.0. */
function checkTransferEncoding(request: IncomingMessage): void {
  const codings = fieldValues(request, 'transfer-encoding');
  if (codings.length === 0) return;
  const chunked = codings.length === 1 && codings[0]?.trim().toLowerCase() === 'chunked';
  if (!chunked || request.httpVersion === '1.0') {
    throw new HttpError('MALFORMED_REQUEST', 'the only transfer coding supported is chunked');
  }
}

/** RFC 9110 section 10.1.1. */
function checkExpect(request: IncomingMessage): void {
  for (const expectation of fieldValues(request, 'expect')) {
    if (expectation.trim().toLowerCase() !== '100-continue') {
      throw new HttpError('MALFORMED_REQUEST', 'the only expectation supported is 100-continue');
    }
  }
}
