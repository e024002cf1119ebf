import { once } from 'node:events';
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

/** Stands between a client and a server, and loses what the server says about inserts. */
export class ReplyCutter {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cuts = 0;
  uri = '';

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      endTogether(client, upstream);
      this.#sockets.add(client);
      client.on('close', () => this.#sockets.delete(client));
      let cut = false;
      client.on('data', (bytes) => {
        if (this.#cuts > 0 && bytes.includes(INSERT)) {
          this.#cuts -= 1;
          cut = true;
        }
        upstream.write(bytes);
      });
      upstream.on('data', (bytes) => (cut ? client.destroy() : client.write(bytes)));
    });
  }

  static async before(port: number): Promise<ReplyCutter> {
    const cutter = new ReplyCutter(port);
    cutter.uri = `mongodb://127.0.0.1:${await listening(cutter.#server)}/?directConnection=true`;
    return cutter;
  }

  /** Loses the replies to the next inserts: the server has written by then. */
  cutNext(inserts: number): void {
    this.#cuts = inserts;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
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
