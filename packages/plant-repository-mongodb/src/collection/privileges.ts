import type { Document } from 'mongodb';

/**
 * Returns whether the user may do something, from the reply to `connectionStatus` with `showPrivileges`. Returns true
 * for a server that requires no credentials, or that does not report privileges.
 *
 * Source: MongoDB manual, "Resource Document".
 */
export function may(action: string, status: Document, db: string, collection: string): boolean {
  const { authenticatedUsers = [], authenticatedUserPrivileges } = status.authInfo ?? {};
  if (authenticatedUsers.length === 0 || !authenticatedUserPrivileges) return true;
  return authenticatedUserPrivileges.some(({ resource, actions }: Document) => {
    // An empty name in a resource matches every name.
    const isCovered =
      ['', db].includes(resource.db) && ['', collection].includes(resource.collection);
    const isPermitted = actions.includes(action) || actions.includes('anyAction');
    return (resource.anyResource || isCovered) && isPermitted;
  });
}
