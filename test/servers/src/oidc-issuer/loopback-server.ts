import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on the loopback interface that can be stopped and started again on the same port. */
export class LoopbackServer {
  /** The paths of all requests. */
  readonly requests: string[] = [];
  protected handler: RequestListener = () => {};
  readonly #server = createServer((request, response) => {
    this.requests.push(request.url ?? '');
    this.handler(request, response);
  });
  #port = 0;

  /** Valid from the first time that it listens. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens on the same port as before, if there was one. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Closes all connections; new ones are refused from now on. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
