import { Socket } from 'node:net';
import { Pool } from 'pg';
import { type PlantClient, PlantStoreClient } from './plant-store-client.js';
import { PostgresqlStoreError, whyNotConnected, withoutPlant } from './postgresql-error.js';

const CONNECTED_WITHIN_MS = 20_000;

/** How long closing may take before the remaining connections are destroyed. */
const CLOSED_WITHIN_MS = 500;

/** Connections to a server for one purpose. */
export class ConnectionPool {
  readonly #pool: Pool;
  readonly #sockets = new Set<Socket>();
  /** Whether the latest attempt to get a connection has failed. */
  #lacksConnection = false;

  constructor(connectionString: string, max: number) {
    this.#pool = new Pool({
      connectionString,
      Client: PlantStoreClient,
      max,
      connectionTimeoutMillis: CONNECTED_WITHIN_MS,
      idleTimeoutMillis: 0,
      stream: () => this.#newSocket(),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      allowExitOnIdle: true,
    });
    // A lost connection emits `error`, which ends the process when no service listens. It needs no other
    // handling: the pool replaces idle connections, and a statement in progress rejects.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /**
   * Runs statements with one connection. Rejects with a `PostgresqlStoreError` when the server reports an error; with the
   * reason of `signal` when it aborts.
   *
   * @param atAbort Whether the connection is closed, because the reply is lost. Otherwise, the server is left to end the
   *   statement, which keeps its connection until it does: giving up and sending again would take a backend each time.
   */
  run<T>(
    work: (client: PlantClient) => Promise<T>,
    signal: AbortSignal,
    atAbort: 'leave' | 'close' = 'leave',
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let used: PlantClient | undefined;
      const stop = () => {
        reject(signal.reason);
        if (atAbort === 'close') used?.close();
      };
      // A single listener, because each costs CPU time in every insert.
      signal.addEventListener('abort', stop);
      const begin = (client: PlantClient) => {
        signal.throwIfAborted();
        used = client;
        return work(client);
      };
      const end = () => signal.removeEventListener('abort', stop);
      this.#run(begin).finally(end).then(resolve, reject);
    });
  }

  /** Rejects if the latest attempt to get a connection failed and another attempt fails too. */
  async expectConnection(signal: AbortSignal): Promise<void> {
    if (this.#lacksConnection) await this.run(async () => undefined, signal);
  }

  /** Closes all connections. Once this resolves, statements open new ones. */
  async reset(): Promise<void> {
    const closing = (socket: Socket) =>
      new Promise((resolve) => socket.once('close', resolve).destroy());
    await Promise.all([...this.#sockets].map(closing));
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => void this.reset(), CLOSED_WITHIN_MS);
    await this.#pool.end();
    clearTimeout(timer);
  }

  async #run<T>(work: (client: PlantClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let closes = false;
    try {
      return await work(client);
    } catch (error) {
      const known = withoutPlant(error);
      closes = known instanceof PostgresqlStoreError && known.facts.reconnects === true;
      throw known;
    } finally {
      client.release(closes);
    }
  }

  async #connect(): Promise<PlantClient> {
    try {
      const client = (await this.#pool.connect()) as PlantClient;
      this.#lacksConnection = false;
      return client;
    } catch (error) {
      this.#lacksConnection = true;
      throw whyNotConnected(error);
    }
  }

  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.on('close', () => this.#sockets.delete(socket));
  }
}
