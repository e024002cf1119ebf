import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** How a connection ends instead of a response. */
export type Ending = 'closed' | 'reset';

/** Two servers that are ready, but end the connection after each request without a response, like a crashing instance. */
export class CrashingInstances {
  /** The bodies that arrived, in turn. */
  readonly received: string[] = [];
  ending: Ending = 'closed';
  /** Whether the first request of each connection gets a response. */
  respondsFirst = false;
  readonly #servers: Server[] = [];
  readonly #used = new WeakSet<Socket>();

  static async start(): Promise<CrashingInstances> {
    const instances = new CrashingInstances();
    for (let count = 0; count < 2; count += 1) {
      const server = createServer((request, response) => {
        if (request.url === '/readyz') response.end('{}');
        else void instances.#take(request).then((responds) => responds && response.end('{}'));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      instances.#servers.push(server);
    }
    return instances;
  }

  get hosts(): [string, string] {
    const [one, two] = this.#servers.map((server) => {
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    return [one ?? '', two ?? ''];
  }

  stop(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  async #take(request: IncomingMessage): Promise<boolean> {
    this.received.push(await text(request));
    const { socket } = request;
    if (this.respondsFirst && !this.#used.has(socket)) {
      this.#used.add(socket);
      return true;
    }
    if (this.ending === 'reset') socket.resetAndDestroy();
    else socket.destroy();
    return false;
  }
}
