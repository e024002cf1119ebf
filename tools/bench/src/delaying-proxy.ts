import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Starts a TCP proxy on loopback that delays everything by `delayMs` milliseconds in each direction. */
export async function delayingProxy(host: string, port: number, delayMs: number) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay().on('error', () => undefined);
    }
    delay(client, upstream, delayMs);
    delay(upstream, client, delayMs);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

/** Timers of one length fire in the order in which they were set. */
function delay(from: Socket, to: Socket, delayMs: number): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), delayMs));
  from.on('close', () => setTimeout(() => to.destroy(), delayMs));
}
