import {
  type Client,
  DEFAULT_PERMISSIONS,
  InvalidTokenError,
  PERMISSIONS,
} from '@plant-store/domain';
import {
  decodeProtectedHeader,
  type JWSHeaderParameters,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose';
import type { JwtTokenVerifierOptions } from './jwt-token-verifier-options.js';

/** RFC 9068 requires `at+jwt`; most issuers send `JWT`, and some send no type. */
const TYPES: readonly unknown[] = ['at+jwt', 'jwt', undefined];

const MAX_NAME_LENGTH = 128;

/**
 * Reads the algorithm and the key name from the header of a token. Ignores parameters that say where keys
 * are, such as `jku`: a token must not choose its own keys.
 *
 * @throws {InvalidTokenError} if the header does not belong to an access token, whatever the signature.
 */
export function headerOf(token: string, algorithms: readonly string[]): JWSHeaderParameters {
  const { alg = '', kid, typ, crit } = protectedHeader(token);
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  if (!algorithms.includes(alg)) {
    throw new InvalidTokenError('the algorithm is not accepted');
  }
  if (!TYPES.includes(type))
    throw new InvalidTokenError('the token type is not an access token type');
  if (crit !== undefined) throw new InvalidTokenError('the header contains critical extensions');
  if (kid !== undefined && typeof kid !== 'string') throw malformed();
  return kid === undefined ? { alg } : { alg, kid };
}

/** Returns the client of a verified token. @throws {InvalidTokenError} if it is not a bearer access token for `audience`. */
export function clientOf(
  claims: JWTPayload,
  {
    audience,
    scopes = {},
    nameClaim = 'sub',
  }: Pick<JwtTokenVerifierOptions, 'audience' | 'scopes' | 'nameClaim'>,
): Client {
  if (!isFor(audience, claims)) {
    throw new InvalidTokenError('the token is for another audience');
  }
  refuseOtherUses(claims);
  const granted = grantsOf(claims);
  const permissions = PERMISSIONS.filter((permission) => {
    const scope = scopes[permission];
    return scope === undefined ? DEFAULT_PERMISSIONS.includes(permission) : granted.includes(scope);
  });
  return { name: nameOf(claims, nameClaim), permissions: new Set(permissions) };
}

/**
 * Returns whether a token is for an audience. If it names none (Cognito, Clerk; an empty list: Hydra), the client that it was
 * issued to must be the audience: `client_id` (RFC 9068) or `azp` (OpenID Connect).
 */
function isFor(audience: string, { aud = [], client_id, azp }: JWTPayload): boolean {
  const audiences = [aud].flat();
  return (audiences.length > 0 ? audiences : [client_id, azp]).includes(audience);
}

/**
 * Refuses ID and refresh tokens, which could pass because the type `JWT` is accepted: Keycloak (`typ`) and Cognito
 * (`token_use`) mark them in the claims, and OpenID Connect adds hashes to ID tokens. Also refuses a token bound to a key
 * (`cnf`, RFC 7800): it needs a proof of possession, which is not checked here.
 */
function refuseOtherUses(claims: JWTPayload): void {
  const { typ = 'Bearer', token_use: use = 'access', at_hash, c_hash, cnf } = claims;
  if (typ !== 'Bearer' || use !== 'access' || at_hash !== undefined || c_hash !== undefined) {
    throw new InvalidTokenError('the token is not an access token');
  }
  if (cnf !== undefined) throw new InvalidTokenError('the token is bound to a key');
}

/** Returns the name of a client, in printable ASCII of limited length, so that it cannot break a log line. */
function nameOf(claims: JWTPayload, nameClaim: string): string {
  const claimed = [nameClaim, 'sub', 'client_id', 'azp'].map((claim) => claims[claim]);
  const names = claimed.filter((name) => typeof name === 'string');
  const name = names.find((candidate) => candidate.trim() !== '') ?? 'unnamed client';
  return name.slice(0, MAX_NAME_LENGTH).replace(/[^\x20-\x7E]/g, '?');
}

/**
 * Returns what a token grants: in `scope` (RFC 8693, section 4.2), `scp` (Okta, Entra), `roles` (Entra) or `permissions`
 * (Auth0, WorkOS).
 */
function grantsOf({ scope, scp, roles, permissions }: JWTPayload): unknown[] {
  return [scope, scp, roles, permissions].flatMap((granted) =>
    typeof granted === 'string' ? granted.split(' ') : Array.isArray(granted) ? granted : [],
  );
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
  return new InvalidTokenError('the token is malformed');
}
