import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** How long {@link FaultyNetwork.restore} waits for the response to what was delayed. */
const MAX_RESPONSE_MS = 30_000;

/**
 * What happens to a response when its first bytes arrive. By then, the server has carried out the request.
 *
 * - `cut`: the connection ends, and the response is lost.
 * - `silence`: the connection stays open. This response and all later ones on it are lost.
 * - `freeze`: as {@link FaultyNetwork.freeze}. The response is held.
 */
export type ResponseFault = 'cut' | 'silence' | 'freeze';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** The fault of the latest request with the marker, until it has happened; `silence` stays. */
  fault?: ResponseFault | undefined;
}

/** A TCP proxy on loopback between a client and a server; a test can make it fail. */
export class FaultyNetwork {
  readonly #links = new Set<Link>();
  readonly #requests = new EventEmitter();
  #serverPort: number;
  readonly #marker: Buffer;
  readonly #proxy = createServer((client) => this.#link(client));
  /** What {@link delayRequest} holds, by its connection to the server, as soon as its client has closed. */
  readonly #delayed = new Map<Socket, Promise<Buffer>>();
  #faults: ResponseFault[] = [];
  #delaysNext = false;
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
    await network.#listen();
    return network;
  }

  /** The address and the port to which clients connect. */
  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Applies one fault to the response of each of the next requests that contain the marker. */
  loseResponses(...faults: ResponseFault[]): void {
    this.#expectMarker();
    this.#faults = faults;
  }

  /**
   * Ends the connection of the next request that contains the marker, and holds everything that the client sends on it
   * until it closes. That reaches the server on {@link restore}. Other connections are not affected.
   */
  delayRequest(): void {
    this.#expectMarker();
    this.#delaysNext = true;
  }

  /** Lets new connections lead to another server. Open ones stay. */
  leadTo(serverPort: number): void {
    this.#serverPort = serverPort;
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.#links.size;
  }

  /** Resolves when the next request that contains the marker was sent on. */
  async requestPassed(): Promise<void> {
    await once(this.#requests, 'passed');
  }

  /** Holds everything that is sent, on open and on new connections, until {@link restore}. */
  freeze(): void {
    this.#frozen = true;
    this.freezeConnections();
  }

  /** Holds everything that is sent on open connections, as a firewall that has forgotten them, until {@link restore}. */
  freezeConnections(): void {
    for (const { client, server } of this.#links) {
      client.pause();
      server.pause();
    }
  }

  /** Refuses new connections, until {@link restore}. */
  refuseConnections(): void {
    this.#proxy.close();
  }

  /** Ends every connection and refuses new ones, until {@link restore}. */
  async cut(): Promise<void> {
    this.refuseConnections();
    await Promise.all([...this.#links].map(({ client }) => closed(client.destroy())));
  }

  /**
   * Ends every fault: sends what was held, and accepts connections on the same port. Resolves when the server has
   * responded to what {@link delayRequest} held, and rejects if it does not.
   */
  async restore(): Promise<void> {
    this.#faults = [];
    this.#delaysNext = false;
    this.#frozen = false;
    for (const link of this.#links) {
      if (link.fault !== 'silence') link.fault = undefined;
      link.client.resume();
      link.server.resume();
    }
    if (!this.#proxy.listening) await this.#listen();
    await Promise.all([...this.#delayed].map(([server, held]) => this.#deliver(server, held)));
  }

  async close(): Promise<void> {
    for (const server of this.#delayed.keys()) server.destroy();
    await this.cut();
  }

  #expectMarker(): void {
    if (this.#marker.length === 0) throw new Error('the network has no marker to look for');
  }

  async #listen(): Promise<void> {
    await once(this.#proxy.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (this.#proxy.address() as AddressInfo).port;
  }

  async #deliver(server: Socket, held: Promise<Buffer>): Promise<void> {
    const settled = new AbortController();
    const late = wait(MAX_RESPONSE_MS, undefined, settled).then(() => {
      throw new Error('the server has not responded to the delayed request');
    });
    const responded = held.then((bytes) => {
      if (server.destroyed) return;
      server.write(bytes);
      return Promise.race([once(server, 'data'), closed(server)]);
    });
    await Promise.race([responded, late]).finally(() => settled.abort());
    server.destroy();
  }

  #link(client: Socket): void {
    const server = connect(this.#serverPort, '127.0.0.1');
    const link: Link = { client, server };
    this.#links.add(link);
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => {
      this.#links.delete(link);
      if (!this.#delayed.has(server)) server.destroySoon();
    });
    server.on('close', () => {
      this.#delayed.delete(server);
      client.destroySoon();
    });
    this.#handOnRequests(link);
    server.on('data', (bytes) => this.#handOnResponse(link, bytes));
    if (this.#frozen) this.freeze();
  }

  #handOnRequests(link: Link): void {
    const { client, server } = link;
    let end = Buffer.alloc(0);
    client.on('data', (bytes) => {
      // The marker may be split between two chunks.
      const text = Buffer.concat([end, bytes]);
      end = text.subarray(Math.max(0, text.length - this.#marker.length + 1));
      const isMarked = this.#marker.length > 0 && text.includes(this.#marker);
      if (isMarked && this.#delaysNext) {
        this.#delaysNext = false;
        this.#delayed.set(server, this.#held(client, bytes));
        return;
      }
      server.write(bytes);
      if (!isMarked) return;
      link.fault ??= this.#faults.shift();
      this.#requests.emit('passed');
    });
  }

  /** Ends a connection, and resolves with what the client has sent on it by then, from its first bytes on. */
  async #held(client: Socket, first: Buffer): Promise<Buffer> {
    const chunks = [first];
    client.removeAllListeners('data').on('data', (bytes) => chunks.push(bytes));
    await closed(client.end());
    return Buffer.concat(chunks);
  }

  #handOnResponse(link: Link, bytes: Buffer): void {
    const { client, server, fault } = link;
    if (fault === 'silence') return;
    link.fault = undefined;
    if (fault === 'cut') {
      client.destroy();
    } else if (fault === 'freeze') {
      this.freeze();
      server.unshift(bytes);
    } else {
      client.write(bytes);
    }
  }
}

/** Resolves when a socket has closed, even because of an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
