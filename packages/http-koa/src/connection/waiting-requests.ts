import type { IncomingMessage } from 'node:http';
import type { Connection } from './connection.js';
import type { Connections } from './connections.js';

/** The maximum number of requests that wait on one connection. */
const MAX_WAITING = 250;
/** While more than this wait on all connections, each may have only a few. */
const MAX_WAITING_ON_ALL = 1000;
const FEW = 10;
/** A waiting request takes 2 KB of memory, and as much again for this many headers: then it counts twice, and so on. */
const HEADERS_OF_ONE = 50;

/** Counts the requests that wait for earlier responses, and so bounds their memory. */
export class WaitingRequests {
  readonly #connections: Connections;
  #count = 0;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Makes a request wait for earlier responses on its connection, or cuts the connection off if too many are waiting. */
  async wait(
    connection: Connection,
    { rawHeaders }: IncomingMessage,
    earlier: Promise<void>,
  ): Promise<void> {
    const count = 1 + Math.floor(rawHeaders.length / 2 / HEADERS_OF_ONE);
    connection.waiting += count;
    this.#count += count;
    const max = this.#count > MAX_WAITING_ON_ALL ? FEW : MAX_WAITING;
    if (connection.waiting > max) return this.#cutOff(connection);
    await earlier;
    // Once it is closed, `release` subtracts what still waits.
    if (!connection.socket.writable) return;
    connection.waiting -= count;
    this.#count -= count;
  }

  /** Subtracts the requests of a connection that was closed. */
  release(connection: Connection): void {
    this.#count -= connection.waiting;
  }

  /**
   * Closes a connection. Node.js creates objects for every request it has already read, up to 5 MB in total, and keeps
   * them until the end of this turn of the event loop. So no other connection is read in this turn.
   */
  #cutOff({ socket }: Connection): void {
    const { stackTraceLimit } = Error;
    // Node.js creates an error for each of these requests. Their stack traces would take two thirds of the CPU time.
    socket
      .prependOnceListener('close', () => (Error.stackTraceLimit = 0))
      .once('close', () => (Error.stackTraceLimit = stackTraceLimit))
      .destroy();
    const others = [...this.#connections.keys()].filter((it) => !it.isPaused() && !it.destroyed);
    for (const other of others) other.pause();
    setImmediate(() => {
      for (const other of others) other.resume();
    });
  }
}
