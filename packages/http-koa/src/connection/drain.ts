import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Connections } from './connections.js';

/** Stops a server, as `DrainableServer.drain` describes. */
export async function drain(
  server: Server,
  connections: Connections,
  timeLimit: number,
): Promise<void> {
  const timer = setTimeout(() => connections.destroy(), timeLimit);
  await acceptWaiting(server);
  const closed = once(server, 'close');
  // The `close` of HTTP would cut idle connections at once, although requests may be on their way.
  NetServer.prototype.close.call(server);
  connections.stop();
  await closed;
  clearTimeout(timer);
}

/** After this many turns of the event loop without a new connection, none waits. */
const QUIET_TURNS = 3;

/** The longest time in which waiting connections are accepted. */
const MAX_ACCEPTING_MS = 1000;

/**
 * Accepts the connections that wait in the queue of the operating system, because closing the listener would
 * reset them. Node.js accepts one in each turn of the event loop.
 */
async function acceptWaiting(server: Server): Promise<void> {
  shortenQueue(server);
  const until = performance.now() + MAX_ACCEPTING_MS;
  let quietTurns = 0;
  const accepted = () => {
    quietTurns = 0;
  };
  server.on('connection', accepted).on('drop', accepted);
  while (quietTurns < QUIET_TURNS && performance.now() < until) {
    quietTurns += 1;
    await new Promise(setImmediate);
  }
  server.off('connection', accepted).off('drop', accepted);
}

/**
 * Shortens the queue of the operating system to 0, so that clients that connect repeatedly do not fill it again:
 * their connections are refused instead of reset. Node.js documents no way to change the queue of a listening
 * server; if it drops this method, the queue stays as it is.
 */
function shortenQueue(
  server: Server & { readonly _handle?: { listen?(backlog: number): number } },
): void {
  server._handle?.listen?.(0);
}
