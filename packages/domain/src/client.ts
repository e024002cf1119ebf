declare const authenticated: unique symbol;

/** What a client may be permitted to do: one permission for each operation of the service. */
export type Permission = 'create plants';

/**
 * A client that has presented a valid bearer token. Only a `TokenVerifier` makes one, with
 * {@link authenticatedClient}, so a `Client` is the proof of authentication.
 *
 * Source: docs/specification.md, "Authentication".
 */
export interface Client {
  /** Names the client in the log: a label or a subject, never the token or a digest of it. */
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  readonly [authenticated]: true;
}

/**
 * Makes a {@link Client}, the proof of authentication. Only adapters of the `TokenVerifier` port may
 * call it, and only after they have verified a token. The architecture test checks who calls it.
 */
export function authenticatedClient(name: string, permissions: Iterable<Permission>): Client {
  return { name, permissions: new Set(permissions) } as Pick<
    Client,
    'name' | 'permissions'
  > as Client;
}
