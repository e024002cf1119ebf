import type { Connection } from 'pg';
import { StoreError } from './postgresql-error.js';

const BOUND = 'SCRAM-SHA-256-PLUS';

const UNBOUND = 'the server offers no channel binding, which channel_binding=require asks for';

/**
 * Expects that the server proves, bound to this TLS connection, that it knows the password. With its documented option,
 * `pg` prefers such a login but accepts any other, and does not say which one it was. So this listens to events that `pg`
 * does not document. If they are renamed, every login is refused. Without this, the connection strings of Neon, which
 * have `channel_binding=require`, would promise more than they keep.
 *
 * @param close Closes the connection at once.
 * @returns The error that `connect` must end with instead of its own, or of none.
 */
export function requireChannelBinding(
  connection: Connection,
  close: () => void,
): (error: Error | null) => Error | null {
  let isOffered = false;
  let isBound = false;
  let isRefused = false;
  /** Before the password is sent. */
  const refuse = () => {
    isRefused = true;
    close();
  };
  connection.on('authenticationCleartextPassword', refuse);
  connection.on('authenticationMD5Password', refuse);
  connection.on('authenticationSASL', ({ mechanisms }) => {
    isOffered = mechanisms.includes(BOUND);
    if (!isOffered) refuse();
  });
  connection.on('authenticationSASLFinal', () => {
    isBound = isOffered;
  });
  return (error) => {
    const isUnbound = isRefused || !(error || isBound);
    return isUnbound ? new StoreError(UNBOUND, { finding: 'credentials refused' }) : error;
  };
}
