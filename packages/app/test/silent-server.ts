import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Starts a server that accepts connections but never sends anything, like a host that drops packets. */
export async function silentServer(): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port, close };
}
