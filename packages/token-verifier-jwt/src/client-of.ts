import {
  authenticatedClient,
  type Client,
  DEFAULT_PERMISSIONS,
  PERMISSIONS,
} from '@plant-store/domain';
import type { JWTPayload } from 'jose';
import type { Scopes } from './jwt-token-verifier-options.js';

const MAX_NAME_LENGTH = 128;

/** Returns the client that a verified token was issued to, with the permissions that its scopes give. */
export function clientOf(claims: JWTPayload, scopes: Scopes = {}): Client {
  const granted = scopesOf(claims);
  const permissions = PERMISSIONS.filter((permission) => {
    const scope = scopes[permission];
    return scope === undefined ? DEFAULT_PERMISSIONS.includes(permission) : granted.includes(scope);
  });
  return authenticatedClient(nameOf(claims), permissions);
}

/** Printable ASCII of limited length, so that no name of a client can break a log line. */
function nameOf({ sub, client_id: clientId, azp }: JWTPayload): string {
  const names = [sub, clientId, azp].filter((name) => typeof name === 'string');
  const name = names.find((candidate) => candidate.trim() !== '') ?? 'unnamed client';
  return name.slice(0, MAX_NAME_LENGTH).replace(/[^\x20-\x7E]/g, '?');
}

/** RFC 8693 section 4.2: `scope`, separated by spaces. Entra and others send `scp`, also as a list. */
function scopesOf({ scope, scp }: JWTPayload): unknown[] {
  return [scope, scp].flatMap((granted) =>
    typeof granted === 'string' ? granted.split(' ') : Array.isArray(granted) ? granted : [],
  );
}
