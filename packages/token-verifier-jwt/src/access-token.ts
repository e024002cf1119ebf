import { InvalidTokenError } from '@plant-store/domain';
import { decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import type { KeyChoice } from './key-set.js';

/** RFC 9068 requires `at+jwt`; most issuers send `JWT`, and some send no type. */
const TYPES: readonly unknown[] = ['at+jwt', 'jwt', undefined];

/**
 * Reads the algorithm and the key name from the header of a token. Ignores parameters that say where keys
 * are, such as `jku`: a token must not choose its own keys.
 *
 * @throws {InvalidTokenError} when the header is not that of an access token, whatever the signature.
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
 * Refuses verified tokens that are not bearer access tokens.
 *
 * Since the type `JWT` is accepted, an ID token or a refresh token with the right audience could pass:
 * Keycloak (`typ`) and Cognito (`token_use`) mark them in the claims, OpenID Connect by hashes. A token that
 * is bound to a key (`cnf`, RFC 7800) is valid only with a proof of possession, which is not checked here.
 *
 * @throws {InvalidTokenError} with the reason `not an access token`.
 */
export function refuseOtherUses(claims: JWTPayload): void {
  const { typ = 'Bearer', token_use: use = 'access', at_hash, c_hash, cnf } = claims;
  if (typ !== 'Bearer' || use !== 'access' || at_hash !== undefined || c_hash !== undefined) {
    throw notAnAccessToken('the token is not an access token');
  }
  if (cnf !== undefined) throw notAnAccessToken('the token is bound to a key');
}

function protectedHeader(token: string): ProtectedHeaderParameters {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw malformed();
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
