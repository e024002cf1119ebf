import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Connections } from './connections.js';

/** Stops a server: see `DrainableServer.drain`. */
export async function drain(
  server: Server,
  connections: Connections,
  timeLimit: number,
): Promise<void> {
  const timer = setTimeout(() => connections.destroy(), timeLimit);
  await acceptWaiting(server);
  const closed = once(server, 'close');
  // HTTP's own `close` would cut idle connections at once, under requests already on their way.
  NetServer.prototype.close.call(server);
  connections.stop();
  await closed;
  clearTimeout(timer);
}

/** So many turns of the event loop without a new connection mean that none waits. */
const QUIET_TURNS = 3;

/** How long connections are accepted at most, if more and more arrive. */
const MAX_ACCEPTING_MS = 1000;

/**
 * Accepts the connections that wait in the operating system's queue: to close the listener would reset
 * them. Node accepts one in each turn of the event loop.
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
 * Has the operating system take no connections in advance. So clients that connect over and over fill the
 * queue no more, and find the port closed instead of being reset. Node documents no way to change the
 * queue of a server that listens; without this method the queue stays as it is.
 */
function shortenQueue(
  server: Server & { readonly _handle?: { listen?(backlog: number): number } },
): void {
  server._handle?.listen?.(0);
}
