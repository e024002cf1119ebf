import type { Socket } from 'node:net';
import type { OwnRequest } from '../request/own-request.js';

/** The maximum number of requests that wait on one connection. */
const MAX_WAITING = 250;
/** While more than this wait on all connections, each may have only a few. */
const MAX_WAITING_ON_ALL = 1000;
const FEW = 10;
/** A waiting request takes 2 KB of memory, and as much again for this many headers: then it counts twice, and so on. */
const HEADERS_OF_ONE = 50;

/** Counts the requests that wait for earlier responses on their connections, and so bounds their memory. */
export class WaitingRequests {
  readonly #connections: ReadonlyMap<Socket, unknown>;
  /** How many wait on each connection where some have waited, until it closes. */
  readonly #counts = new Map<Socket, number>();
  #onAll = 0;

  /** @param connections All open connections, by their sockets. */
  constructor(connections: ReadonlyMap<Socket, unknown>) {
    this.#connections = connections;
  }

  /** Makes a request wait for earlier responses, or cuts its connection off if too many wait. */
  async wait({ socket, rawHeaders }: OwnRequest, earlier: Promise<void>): Promise<void> {
    const count = 1 + Math.floor(rawHeaders.length / 2 / HEADERS_OF_ONE);
    const waiting = this.#add(socket, count);
    const max = this.#onAll > MAX_WAITING_ON_ALL ? FEW : MAX_WAITING;
    if (waiting > max) return this.#cutOff(socket);
    await earlier;
    // If it is closed, `#forget` subtracts what still waits.
    if (socket.writable) this.#add(socket, -count);
  }

  /** Returns how many wait on this connection now. */
  #add(socket: Socket, count: number): number {
    if (!this.#counts.has(socket)) socket.once('close', () => this.#forget(socket));
    const waiting = (this.#counts.get(socket) ?? 0) + count;
    this.#counts.set(socket, waiting);
    this.#onAll += count;
    return waiting;
  }

  #forget(socket: Socket): void {
    this.#onAll -= this.#counts.get(socket) ?? 0;
    this.#counts.delete(socket);
  }

  /**
   * Closes a connection. Node.js creates objects for every request it has already read, up to 5 MB in total, and keeps
   * them until the end of this turn of the event loop. So no other connection is read in this turn.
   */
  #cutOff(socket: Socket): void {
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
