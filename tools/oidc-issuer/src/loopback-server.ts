import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on the loopback interface that can go out of reach and come back. */
export class LoopbackServer {
  /** Empty until it listens, and the same ever after. */
  url = '';
  /** The path of every request that came in. */
  readonly requests: string[] = [];
  protected handler: RequestListener = () => {};
  readonly #server = createServer((request, response) => {
    this.requests.push(request.url ?? '');
    this.handler(request, response);
  });
  #port = 0;

  get listening(): boolean {
    return this.#server.listening;
  }

  /** Listens on the port it had before, if it had one. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.#port}`;
  }

  /** Goes out of reach: connections are refused from now on. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
