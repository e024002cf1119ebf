declare const authenticated: unique symbol;

/** All permissions: one for each operation of the service. */
export const PERMISSIONS = ['create plants', 'read plants'] as const;

/** What a client may be permitted to do. */
export type Permission = (typeof PERMISSIONS)[number];

/**
 * What a valid token permits when neither the token nor the configuration names permissions. The specification
 * knows no scopes. Reading is among them, because no HTTP operation needs it: who exports plants has the credentials
 * of the storage too. The permission of a further HTTP operation must be granted by name.
 */
export const DEFAULT_PERMISSIONS: readonly Permission[] = ['create plants', 'read plants'];

/**
 * A client that has presented a valid bearer token: only a `TokenVerifier` makes one, with {@link authenticatedClient}.
 * Source: docs/specification.md, "Authentication".
 */
export interface Client {
  /** Names the client in the log: a label or a subject, never the token or a digest of it. */
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  readonly [authenticated]: true;
}

/** Makes a {@link Client} after its token was verified. The architecture test lets only a `TokenVerifier` call this. */
export function authenticatedClient(name: string, permissions: Iterable<Permission>): Client {
  const client: Omit<Client, typeof authenticated> = { name, permissions: new Set(permissions) };
  return client as Client;
}

/** The client is authenticated, but does not have the permission for the operation. */
export class PermissionDeniedError extends Error {
  override readonly name = 'PermissionDeniedError';
  readonly code = 'PERMISSION_DENIED';
}
