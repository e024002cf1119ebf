import type { Socket } from 'node:net';

/** The decisions about a connection that replace those of the HTTP server of Node.js. */
export interface SocketDecisions {
  /** Whether the connection may be read now. */
  mayRead(): boolean;
  /** Called when the connection is read again after a pause. */
  resumed(): void;
  /** Called when the last response was handed to the operating system. */
  lastResponseSent(): void;
}

/**
 * Replaces two methods of a socket, because the HTTP server of Node.js has no options for what they do. It resumes
 * reading for every body, however many requests wait. And it closes immediately after the last response, so that a
 * reset may arrive before the response.
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
