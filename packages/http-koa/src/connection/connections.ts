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

  /** The connection of a socket. */
  of(socket: Socket): Connection {
    return this.#open.get(socket) ?? this.#add(socket);
  }

  /** Looks after the time limits of all connections: a timer for each would cost a twentieth of a create. */
  checkTime(): void {
    for (const connection of this.#open.values()) connection.checkTime();
  }

  /** From now on, connections are closed after their last response. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#open.values()) connection.closeAfterResponse();
  }

  /** Cuts off what is still open. */
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
