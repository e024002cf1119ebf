declare const authenticated: unique symbol;

/** What a client may be allowed to do. One permission for each operation of the service. */
export type Permission = 'create plants';

/**
 * Somebody who has presented a valid bearer token. Holding a `Client` is the proof of it:
 * only a `TokenVerifier` makes one, with {@link authenticatedClient}.
 *
 * Source: docs/specification.md, "Authentication".
 */
export interface Client {
  /** Who it is, for the log: a label or a subject. Never the token, never a digest of it. */
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  readonly [authenticated]: true;
}

/**
 * Declares a client authenticated. Only adapters of the `TokenVerifier` port may call it,
 * and only after they have verified a token; the architecture test holds them to that.
 */
export function authenticatedClient(name: string, permissions: Iterable<Permission>): Client {
  return { name, permissions: new Set(permissions) } as Pick<
    Client,
    'name' | 'permissions'
  > as Client;
}
