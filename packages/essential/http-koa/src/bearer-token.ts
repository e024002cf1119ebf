import type { IncomingMessage } from 'node:http';
import { InvalidTokenError } from '@plant-store/domain';
import { failures, HttpError } from './failures.js';

/** Returns whether a request has several headers of this lower-case name. `headers` may contain only the first. */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const field = rawHeaders[at];
    if (field?.length === name.length && field.toLowerCase() === name) found += 1;
  }
  return found > 1;
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
    throw new HttpError(failures.CREDENTIALS_MISSING);
  }
  throw new InvalidTokenError('the token is malformed');
}
