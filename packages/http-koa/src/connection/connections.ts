import type { Socket } from 'node:net';
import { Connection } from './connection.js';

/** The most requests that wait for earlier responses, on one connection and on all. */
const MAX_WAITING = 250;
const MAX_WAITING_ON_ALL = 1000;

/** The open connections of a server. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** How many requests wait on all connections. */
  #waiting = 0;

  /** Adds a connection, until it is closed. */
  add(socket: Socket): void {
    const connection = new Connection(socket);
    this.#open.set(socket, connection);
    socket.once('close', () => this.#remove(connection));
  }

  /** Returns the connection of a socket, unless it is closed or cut off. */
  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket);
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.#open.values();
  }

  /** Lets a request wait for the earlier responses of its connection. Cuts that off when too many requests wait. */
  async wait(connection: Connection, earlier: Promise<void>): Promise<void> {
    connection.waiting += 1;
    this.#waiting += 1;
    const areTooMany = connection.waiting > MAX_WAITING || this.#waiting > MAX_WAITING_ON_ALL;
    if (areTooMany) return this.#cutOff(connection);
    await earlier;
    // `#remove` subtracts what still waits.
    if (!connection.socket.writable) return;
    connection.waiting -= 1;
    this.#waiting -= 1;
  }

  /**
   * Limits how long, in milliseconds, a client may read nothing of a response that waits for it. Timeouts of all
   * connections would take 5 % of the CPU time of a create.
   */
  limitUnread(timeLimitMs: number): void {
    for (const socket of this.#open.keys()) {
      const isUnread = socket.writableLength > 0 && socket.timeout !== timeLimitMs;
      if (isUnread) socket.setTimeout(timeLimitMs);
    }
  }

  /**
   * Closes a connection. Node.js makes objects of all requests that it has read from it, up to 5 MB, and keeps them until
   * the end of this turn of the event loop. So the other connections are not read in this turn.
   */
  #cutOff(connection: Connection): void {
    this.#remove(connection);
    const { stackTraceLimit } = Error;
    // Node.js makes an error for each of these requests. The stacks would take most of the CPU time.
    connection.socket
      .prependOnceListener('close', () => (Error.stackTraceLimit = 0))
      .once('close', () => (Error.stackTraceLimit = stackTraceLimit))
      .destroy();
    const others = [...this.#open.keys()].filter((socket) => !socket.isPaused());
    for (const other of others) other.pause();
    setImmediate(() => {
      for (const other of others) other.resume();
    });
  }

  #remove(connection: Connection): void {
    if (this.#open.delete(connection.socket)) this.#waiting -= connection.waiting;
  }
}
