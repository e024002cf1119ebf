import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Connection } from './connection.js';
import type { EventLoopTick } from './event-loop-tick.js';

/** While stopping, idle connections are closed this often: a request on its way to one still gets a response that closes. */
const CLOSE_IDLE_EVERY_MS = 1000;

/** Implements `DrainableServer.drain`. The caller makes the response to every further request close its connection. */
export async function drain(
  server: Server,
  connections: ReadonlyMap<unknown, Connection>,
  tick: EventLoopTick,
  timeLimitMs: number,
): Promise<void> {
  const limit = setTimeout(() => server.closeAllConnections(), timeLimitMs);
  const closed = once(server, 'close');
  for (const connection of connections.values()) connection.closeAfterLast();
  await closeListener(server, tick.whenAllAccepted(timeLimitMs / 2));
  const closingIdle = setInterval(() => {
    for (const connection of connections.values()) connection.closeIfIdle();
  }, CLOSE_IDLE_EVERY_MS);
  await closed;
  clearInterval(closingIdle);
  clearTimeout(limit);
}

/**
 * Closes the listener once no connection waits to be accepted, because the system resets those. Until then, no request of a
 * new connection is read: its response would let the client open another.
 */
async function closeListener(server: Server, whenAllAccepted: Promise<void>): Promise<void> {
  const accepted: Socket[] = [];
  // Node.js begins to read a new connection in the next tick.
  const pause = (socket: Socket) => process.nextTick(() => void accepted.push(socket.pause()));
  server.on('connection', pause);
  await whenAllAccepted;
  // Undocumented on an HTTP server, whose own `close` would cut off idle connections immediately, and responses that are not read
  // yet.
  NetServer.prototype.close.call(server);
  server.off('connection', pause);
  for (const socket of accepted) socket.resume();
}
