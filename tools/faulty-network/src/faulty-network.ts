import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.js';

/**
 * What happens to a response when its first bytes arrive. By then, the server has carried out the request.
 *
 * - `cut`: the connection ends, and the response is lost.
 * - `silence`: the connection stays open. This response and all later ones on it are lost.
 * - `freeze`: as {@link FaultyNetwork.freeze}. The response is held.
 */
export type Fault = 'cut' | 'silence' | 'freeze';

/** The two sockets of one connection through the network. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/** A TCP proxy on loopback between a client and a server; a test can make it fail. */
export class FaultyNetwork {
  readonly #links = new Set<Link>();
  readonly #requests = new EventEmitter();
  readonly #serverPort: number;
  readonly #marker: Buffer;
  readonly #proxy = createServer((client) => this.#link(client));
  #faults: Fault[] = [];
  #frozen = false;
  #port = 0;

  private constructor(serverPort: number, marker: string) {
    this.#serverPort = serverPort;
    this.#marker = Buffer.from(marker);
  }

  /**
   * Starts a network in front of a server on loopback.
   *
   * @param marker Text that only the requests for {@link loseResponses} contain. It cannot be found in
   * encrypted data.
   */
  static async before(serverPort: number, marker = ''): Promise<FaultyNetwork> {
    const network = new FaultyNetwork(serverPort, marker);
    network.#port = await listen(network.#proxy);
    return network;
  }

  /** The address and the port to which clients connect. */
  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Applies one fault to the response of each of the next requests that contain the marker. */
  loseResponses(...faults: Fault[]): void {
    if (this.#marker.length === 0) throw new Error('the network has no marker to look for');
    this.#faults = faults;
  }

  /** Resolves when the next request that contains the marker was sent on. */
  async requestPassed(): Promise<void> {
    await once(this.#requests, 'passed');
  }

  /** Holds everything that is sent, on open and on new connections, until {@link restore}. */
  freeze(): void {
    this.#frozen = true;
    for (const { client, server } of this.#links) {
      client.pause();
      server.pause();
    }
  }

  /** Ends every connection and refuses new ones, until {@link restore}. */
  async cut(): Promise<void> {
    if (!this.#proxy.listening) return;
    const closed = once(this.#proxy, 'close');
    this.#proxy.close();
    for (const { client } of this.#links) client.destroy();
    await closed;
  }

  /** Ends every fault: sends what was held, and accepts connections on the same port. */
  async restore(): Promise<void> {
    this.#faults = [];
    this.#frozen = false;
    for (const { client, server } of this.#links) {
      client.resume();
      server.resume();
    }
    if (!this.#proxy.listening) await listen(this.#proxy, this.#port);
  }

  async close(): Promise<void> {
    await this.cut();
  }

  #link(client: Socket): void {
    const server = connect(this.#serverPort, '127.0.0.1');
    const link = { client, server };
    this.#links.add(link);
    client.on('close', () => this.#links.delete(link));
    endTogether(client, server);
    const fault = this.#handOnRequests(link);
    server.on('data', (bytes) => this.#handOnResponse(link, bytes, fault));
    if (this.#frozen) this.freeze();
  }

  /** Returns a function that takes the fault of the latest request with the marker. */
  #handOnRequests({ client, server }: Link): FaultOfLink {
    const fault: FaultOfLink = { current: undefined };
    let end = Buffer.alloc(0);
    client.on('data', (bytes) => {
      server.write(bytes);
      // The marker may be split between two chunks.
      const text = Buffer.concat([end, bytes]);
      end = text.subarray(Math.max(0, text.length - this.#marker.length + 1));
      if (this.#marker.length === 0 || !text.includes(this.#marker)) return;
      fault.current ??= this.#faults.shift();
      this.#requests.emit('passed');
    });
    return fault;
  }

  #handOnResponse({ client, server }: Link, bytes: Buffer, fault: FaultOfLink): void {
    const { current } = fault;
    if (current === 'silence') return;
    fault.current = undefined;
    if (current === 'cut') {
      client.destroy();
    } else if (current === 'freeze') {
      this.freeze();
      server.unshift(bytes);
    } else {
      client.write(bytes);
    }
  }
}

interface FaultOfLink {
  current: Fault | undefined;
}

function endTogether(a: Socket, b: Socket): void {
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    one.on('error', () => undefined);
    one.on('close', () => other.destroySoon());
  }
}
