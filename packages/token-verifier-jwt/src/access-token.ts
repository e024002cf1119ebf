import { InvalidTokenError } from '@plant-store/domain';
import { decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import type { KeyChoice } from './key-set.js';

const MAX_TOKEN_LENGTH = 8 * 1024;

/** RFC 9068 asks for the first; most issuers send the second, and some send no type at all. */
const TYPES: readonly unknown[] = ['at+jwt', 'jwt', undefined];

/**
 * Reads what chooses the key. Nothing else of the header is looked at: a token does not say where its keys are.
 *
 * @throws {InvalidTokenError} when this cannot be an access token, whatever its signature.
 */
export function keyChoice(token: string, algorithms: readonly string[]): KeyChoice {
  const { alg = '', kid, typ, crit } = protectedHeader(token);
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  if (!algorithms.includes(alg)) {
    throw new InvalidTokenError('the algorithm is not accepted', { reason: 'algorithm' });
  }
  if (!TYPES.includes(type)) throw notAnAccessToken('the type is not that of access tokens');
  if (crit !== undefined) throw notAnAccessToken('the header has critical extensions');
  if (kid !== undefined && typeof kid !== 'string') throw malformed();
  return { alg, kid };
}

/**
 * Refuses verified tokens that are valid, but not as a bearer's access token.
 *
 * As plain `JWT` is accepted, an ID token or a refresh token could come along with the right audience:
 * Keycloak (`typ`) and Cognito (`token_use`) distinguish them in the claims, OpenID Connect by hashes.
 * A token that is bound to a key (`cnf`, RFC 7800) is worth nothing without the proof, which is not looked at here.
 *
 * @throws {InvalidTokenError}
 */
export function refuseOtherUses(claims: JWTPayload): void {
  const { typ = 'Bearer', token_use: use = 'access', at_hash, c_hash, cnf } = claims;
  if (typ !== 'Bearer' || use !== 'access' || at_hash !== undefined || c_hash !== undefined) {
    throw notAnAccessToken('the token is not an access token');
  }
  if (cnf !== undefined) throw notAnAccessToken('the token is bound to a key');
}

function protectedHeader(token: string): ProtectedHeaderParameters {
  if (token.length > MAX_TOKEN_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw malformed();
  try {
    return decodeProtectedHeader(token);
  } catch {
    throw malformed();
  }
}

function malformed(): InvalidTokenError {
  return new InvalidTokenError('the token is malformed', { reason: 'malformed' });
}

function notAnAccessToken(message: string): InvalidTokenError {
  return new InvalidTokenError(message, { reason: 'not an access token' });
}
