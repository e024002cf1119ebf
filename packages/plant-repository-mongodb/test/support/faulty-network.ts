import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

const INSERT = 'plant-store insert';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

function endTogether(a: Socket, b: Socket): void {
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    one.on('error', () => undefined);
    one.on('close', () => other.destroy());
  }
}

/** What becomes of the answers on a connection, from an insert on. */
type Fault = 'cut' | 'silenced';

/** Stands between a client and a server, and loses what the one says to the other. */
export class FaultyNetwork {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #emitter = new EventEmitter();
  #faults: Fault[] = [];
  #stalled = false;
  host = '';

  private constructor(port: number) {
    this.#server = createServer((client) => this.#connect(client, connect(port, '127.0.0.1')));
  }

  static async before(port: number): Promise<FaultyNetwork> {
    const network = new FaultyNetwork(port);
    network.host = `127.0.0.1:${await listening(network.#server)}`;
    return network;
  }

  get uri(): string {
    return `mongodb://${this.host}/?directConnection=true`;
  }

  /** What happens to the answers to the next inserts, one by one: the server has written by then. */
  afterNextInserts(...faults: Fault[]): void {
    this.#faults = faults;
  }

  /** From now on nothing passes, and no connection ends. */
  stall(): void {
    this.#stalled = true;
  }

  /** Resolves when the next insert has passed. */
  async insertPassed(): Promise<void> {
    await once(this.#emitter, 'insert');
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #connect(client: Socket, upstream: Socket): void {
    endTogether(client, upstream);
    this.#sockets.add(client);
    client.on('close', () => this.#sockets.delete(client));
    let fault: Fault | undefined;
    client.on('data', (bytes) => {
      if (this.#stalled) return;
      upstream.write(bytes);
      if (!bytes.includes(INSERT)) return;
      fault ??= this.#faults.shift();
      this.#emitter.emit('insert');
    });
    upstream.on('data', (bytes) => {
      if (fault === 'cut') client.destroy();
      else if (!fault && !this.#stalled) client.write(bytes);
    });
  }
}

/** Accepts every connection and never says a word. */
export async function silentServer(): Promise<{ uri: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
  });
  const uri = `mongodb://127.0.0.1:${await listening(server)}/`;
  return {
    uri,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
