import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Two servers that are ready, but end the connection after a request without a response, like a crashing instance: one
 * closes it, the other one resets it.
 */
export class CrashingInstances {
  /** The bodies that arrived, in turn. */
  readonly received: string[] = [];
  /** Whether the first request of each connection gets a response. */
  respondsFirst = false;
  readonly #used = new WeakSet<Socket>();
  readonly #servers = [
    this.#server((socket) => socket.destroy()),
    this.#server((socket) => socket.resetAndDestroy()),
  ] as const;

  /** The addresses of both, once they listen. */
  async hosts(): Promise<[string, string]> {
    const [one, two] = this.#servers;
    return [await hostOf(one), await hostOf(two)];
  }

  stop(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  #server(end: (socket: Socket) => void): Server {
    return createServer(async (request, response) => {
      if (request.url === '/readyz') return void response.end('{}');
      this.received.push(await text(request));
      const { socket } = request;
      if (!this.respondsFirst || this.#used.has(socket)) return end(socket);
      this.#used.add(socket);
      response.end('{}');
    }).listen(0, '127.0.0.1');
  }
}

async function hostOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
