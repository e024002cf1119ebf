import type { Socket } from 'node:net';
import { Connection } from './connection.js';

/** The open connections of a server, by their sockets. */
export class Connections extends Map<Socket, Connection> {
  /** Adds a connection until it closes, and then passes it on. */
  open(socket: Socket, closed: (connection: Connection) => void): void {
    const connection = new Connection(socket);
    this.set(socket, connection);
    socket.once('close', () => {
      this.delete(socket);
      closed(connection);
    });
  }

  /**
   * Limits how long, in milliseconds, a client may leave a pending response unread. Timeouts on every connection would
   * take 5 % of the CPU time of a create.
   */
  limitUnread(timeLimitMs: number): void {
    for (const socket of this.keys()) {
      // Setting a timeout again would restart it.
      const isUnread = socket.writableLength > 0 && socket.timeout !== timeLimitMs;
      if (isUnread) socket.setTimeout(timeLimitMs);
    }
  }
}
