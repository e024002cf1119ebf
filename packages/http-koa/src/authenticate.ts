import type { IncomingMessage } from 'node:http';
import { InvalidTokenError, type TokenVerifier } from '@plant-store/domain';
import { HttpError } from './failures.js';
import { fieldValues } from './header-fields.js';
import type { OperationMiddleware } from './operation.js';

/** Longer tokens are refused without asking the verifier; in bytes. */
const MAX_TOKEN_LENGTH = 8192;

/** The scheme, and not merely a longer token that begins like it (RFC 9110 section 5.6.2). */
const BEARER = /^bearer(?![!#$%&'*+.^_`|~0-9a-z-])/i;

/** RFC 6750 section 2.1: one b64token after at least one space. */
const CREDENTIALS = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Turns the bearer token into the client it was given to. The body is not touched before. */
export function authenticate(verifier: TokenVerifier): OperationMiddleware {
  return async function authenticate(ctx, next) {
    ctx.state.client = await verifier.verify(bearerToken(ctx.req));
    await next();
  };
}

function bearerToken(request: IncomingMessage): string {
  const [credentials, another] = fieldValues(request, 'authorization');
  if (another !== undefined) throw new InvalidTokenError('there are two Authorization fields');
  if (credentials === undefined || !BEARER.test(credentials)) {
    throw new HttpError('CREDENTIALS_MISSING');
  }
  const token = CREDENTIALS.exec(credentials)?.[1];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH) {
    throw new InvalidTokenError('the token is malformed');
  }
  return token;
}
