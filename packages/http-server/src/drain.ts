import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Connection } from './connection.js';
import type { EventLoopTurn } from './event-loop-turn.js';

/** While stopping, idle connections are closed this often: a request on its way to one still gets a response that closes. */
const CLOSE_IDLE_EVERY_MS = 1000;

/** Implements `DrainableServer.drain`. The caller makes the response to every further request close its connection. */
export async function drain(
  server: Server,
  connections: ReadonlyMap<unknown, Connection>,
  turn: EventLoopTurn,
  timeLimitMs: number,
): Promise<void> {
  const limit = setTimeout(() => server.closeAllConnections(), timeLimitMs);
  const closed = once(server, 'close');
  for (const connection of connections.values()) connection.closeAfterLast();
  // Closing the listener resets connections that wait to be accepted.
  await turn.whenAllAccepted(timeLimitMs / 2);
  // The HTTP server's own `close` would cut off idle connections at once, and responses that are not read yet.
  NetServer.prototype.close.call(server);
  const closingIdle = setInterval(() => {
    for (const connection of connections.values()) connection.closeIfIdle();
  }, CLOSE_IDLE_EVERY_MS);
  await closed;
  clearInterval(closingIdle);
  clearTimeout(limit);
}
