import type { IncomingMessage } from 'node:http';
import { InvalidTokenError } from '@plant-store/domain';
import { HttpError } from './failures.js';
import { fieldValues } from './header-fields.js';

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
 * @throws {InvalidTokenError} when the token is malformed.
 */
export function bearerToken(request: IncomingMessage): string {
  const [credentials, another] = fieldValues(request, 'authorization');
  if (another !== undefined) throw malformed('there are two Authorization fields');
  if (credentials === undefined) throw new HttpError('CREDENTIALS_MISSING');
  const token = CREDENTIALS.exec(credentials)?.[1];
  if (token !== undefined && token.length <= MAX_TOKEN_LENGTH) return token;
  if (!BEARER.test(credentials)) throw new HttpError('CREDENTIALS_MISSING');
  throw malformed('the token is malformed');
}

function malformed(message: string): InvalidTokenError {
  return new InvalidTokenError(message, { reason: 'malformed' });
}
