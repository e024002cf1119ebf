import type { Socket } from 'node:net';

/** What the owner of a connection decides where Node's HTTP server would. */
export interface SocketDecisions {
  /** Whether the connection may be read now. */
  mayRead(): boolean;
  /** The connection is read again after a pause. */
  resumed(): void;
  /** The last response of the connection has been handed to the operating system. */
  lastResponseSent(): void;
}

/**
 * Replaces the two methods of a socket by which Node's HTTP server acts on its own, without an option
 * against it: it resumes reading for every body that is read, however many requests wait, and closes
 * right after the last response, so that a reset may overtake it.
 */
export function decide(socket: Socket, decisions: SocketDecisions): void {
  const resume = socket.resume.bind(socket);
  socket.resume = () => {
    if (!decisions.mayRead()) return socket;
    if (socket.isPaused()) decisions.resumed();
    return resume();
  };
  socket.destroySoon = () => decisions.lastResponseSent();
}
