import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { listen } from './listen.js';

/** Starts a server on loopback that accepts every connection and never sends a byte. */
export async function silentServer(): Promise<{ host: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
  });
  const host = `127.0.0.1:${await listen(server)}`;
  return {
    host,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
