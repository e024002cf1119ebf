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
  connections.stop();
  await acceptWaiting(server);
  const closed = once(server, 'close');
  // HTTP's own `close` would cut idle connections at once, under requests already on their way.
  NetServer.prototype.close.call(server);
  await closed;
  clearTimeout(timer);
}

async function acceptWaiting(_server: Server): Promise<void> {}
