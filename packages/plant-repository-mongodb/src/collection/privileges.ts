import type { Document } from 'mongodb';

interface Privilege {
  readonly resource: Document;
  readonly actions: readonly string[];
}

/** An empty name in a resource matches every name. */
function covers(resource: Document, database: string, collection: string): boolean {
  const { db, collection: name, anyResource } = resource;
  return anyResource === true || (['', database].includes(db) && ['', collection].includes(name));
}

/**
 * Returns whether the user may insert, from the reply to `connectionStatus` with `showPrivileges`. Returns true for
 * a server that requires no credentials, or that does not report privileges.
 *
 * Source: MongoDB manual, "Resource Document".
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
