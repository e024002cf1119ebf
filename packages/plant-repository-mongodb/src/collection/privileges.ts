import type { Document } from 'mongodb';

interface Privilege {
  readonly resource: Document;
  readonly actions: readonly string[];
}

/** An empty name means every name. */
function covers(resource: Document, database: string, collection: string): boolean {
  const { db, collection: name, anyResource } = resource;
  return anyResource === true || (['', database].includes(db) && ['', collection].includes(name));
}

/**
 * Whether the reply to `connectionStatus` with `showPrivileges` lets the user insert. A server that
 * asks for no credentials, or that does not report privileges, is taken to allow it.
 *
 * Source: MongoDB, manual, "Resource Document".
 */
export function mayInsert(status: Document, database: string, collection: string): boolean {
  const { authenticatedUsers = [], authenticatedUserPrivileges } = status.authInfo ?? {};
  if (authenticatedUsers.length === 0 || !authenticatedUserPrivileges) return true;
  return authenticatedUserPrivileges.some(
    ({ resource, actions }: Privilege) =>
      covers(resource, database, collection) &&
      (actions.includes('insert') || actions.includes('anyAction')),
  );
}
