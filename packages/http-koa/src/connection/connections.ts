import type { Socket } from 'node:net';
import { RequestIds } from '../frame/request-id.js';
import { Connection, type ConnectionOptions } from './connection.js';
import { Turn } from './turn.js';

/** The open connections of a server. */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #open = new Map<Socket, Connection>();
  #isStopping = false;

  constructor(options: Omit<ConnectionOptions, 'turn' | 'requestIds'>) {
    this.#options = { ...options, turn: new Turn(), requestIds: new RequestIds() };
  }

  /** Returns the connection of a socket. */
  of(socket: Socket): Connection {
    return this.#open.get(socket) ?? this.#add(socket);
  }

  /** Checks the time limits of all connections. A timer for each would take 5 % of the CPU time of a create. */
  checkTime(): void {
    for (const connection of this.#open.values()) connection.checkTime();
  }

  /** Closes connections after their last response from now on. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#open.values()) connection.closeAfterResponse();
  }

  /** Cuts off all open connections. */
  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #add(socket: Socket): Connection {
    const connection = new Connection(socket, this.#options);
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
    if (this.#isStopping) connection.closeAfterResponse();
    return connection;
  }
}
