/** All permissions: one for each operation of the service. */
export const PERMISSIONS = ['create plants', 'read plants'] as const;

/** What a client may be permitted to do. */
export type Permission = (typeof PERMISSIONS)[number];

/**
 * The permissions of a valid token when neither the token nor the configuration lists any: the specification defines no
 * scopes. The default permissions include reading, because no HTTP operation needs it: whoever exports plants has the
 * database credentials anyway. Permissions for a new HTTP operation must be granted by name.
 */
export const DEFAULT_PERMISSIONS: readonly Permission[] = ['create plants', 'read plants'];

/** A client that presented a valid bearer token. Source: docs/specification.md, "Authentication". */
export interface Client {
  /** Names the client in the log: a label or a subject, never the token or a digest of it. */
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
}

/** Thrown when an authenticated client lacks the permission for an operation. */
export class PermissionDeniedError extends Error {
  override readonly name = 'PermissionDeniedError';
  readonly code = 'PERMISSION_DENIED';
  /** The client, if it is known. */
  readonly client: Client | undefined;

  constructor(message: string, options: ErrorOptions & { readonly client?: Client } = {}) {
    super(message, options);
    this.client = options.client;
  }
}

/** @throws {PermissionDeniedError} if a client lacks a permission. */
export function requirePermission(client: Client, permission: Permission): void {
  if (client.permissions.has(permission)) return;
  throw new PermissionDeniedError(`the token lacks the permission to ${permission}`, { client });
}
