import { Socket } from 'node:net';
import {
  Client,
  type ClientConfig,
  type Connection,
  type DatabaseError,
  Pool,
  type PoolClient,
  Query,
  type QueryResult,
  type QueryResultRow,
} from 'pg';
import type { Connecting } from './connection-string.js';
import { PostgresqlError, whyNotConnected, withoutPlant } from './server-error.js';

const CONNECTED_WITHIN_MS = 20_000;

/** How long closing may take before the remaining connections are destroyed. */
const CLOSED_WITHIN_MS = 500;

const UNBOUND = 'the server offers no channel binding, which channel_binding=require asks for';

/** The code of notices that are not warnings. */
const NO_WARNING = '00000';

/** A statement that commits. With a name, it is a prepared statement. */
export interface Committing {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name?: string | undefined;
}

/** A connection that a statement runs with. */
export type PlantClient = PoolClient & PlantStoreClient;

/** Connections to a server for one purpose. */
export class ConnectionPool {
  readonly #pool: Pool;
  readonly #sockets = new Set<Socket>();
  /** Whether the latest attempt to get a connection has failed. */
  #lacksConnection = false;

  constructor({ connectionString, enableChannelBinding = false }: Connecting, max: number) {
    this.#pool = new Pool({
      connectionString,
      enableChannelBinding,
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
   * Runs statements with one connection. Rejects with a `PostgresqlError` when the server reports an error; with the
   * reason of `signal` when it aborts. The server is then left to end the statement, which keeps its connection until
   * it does: giving up and sending again would take a backend each time.
   *
   * @param aborted Called if the signal aborts while the statements run.
   */
  run<T>(
    work: (client: PlantClient) => Promise<T>,
    signal: AbortSignal,
    aborted: () => void = () => undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let isWorking = false;
      const stop = () => {
        reject(signal.reason);
        if (isWorking) aborted();
      };
      // One listener: an insert of one plant takes a tenth of its CPU time for it.
      signal.addEventListener('abort', stop);
      const begin = (client: PlantClient) => {
        signal.throwIfAborted();
        isWorking = true;
        return work(client);
      };
      const end = () => {
        isWorking = false;
        signal.removeEventListener('abort', stop);
      };
      this.#run(begin).finally(end).then(resolve, reject);
    });
  }

  /** Rejects if the latest attempt to get a connection failed and another attempt fails too. */
  async expectConnection(signal: AbortSignal): Promise<void> {
    if (this.#lacksConnection) await this.run(async () => undefined, signal);
  }

  /** Closes all connections immediately; later statements open new ones. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.reset(), CLOSED_WITHIN_MS);
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
      closes = known instanceof PostgresqlError && known.row.reconnects === true;
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

class PlantStoreClient extends Client {
  /** Whether the server has warned during the statement. */
  #hasWarned = false;
  #refusal: Error | undefined;

  constructor(config?: ClientConfig) {
    super(config);
    // One listener for all statements. `where` is the function that reports it, such as a trigger. A commit has none.
    this.on('notice', ({ code, where }: Pick<DatabaseError, 'code' | 'where'>) => {
      this.#hasWarned ||= code !== NO_WARNING && where === undefined;
    });
    if (!config?.enableChannelBinding) return;
    requireChannelBinding(this.connection, () => {
      this.#refusal = new PostgresqlError(UNBOUND, { finding: 'credentials refused' });
      this.connection.stream.destroy();
    });
  }

  /**
   * Runs a statement that commits. Rejects when the server warns: it does so when an administrator ends its wait for
   * the standbys, and then reports a commit that no standby may have.
   */
  committed<Row extends QueryResultRow>({ text, values, name }: Committing) {
    this.#hasWarned = false;
    return new Promise<QueryResult<Row>>((resolve, reject) => {
      const query = new Query<Row>(text, [...values], (error, result) => {
        if (error) reject(error);
        else if (this.#hasWarned) reject(new Error('the server sent a warning about the commit'));
        else resolve(result);
      });
      // An object with the name would be copied, which takes as long as the rest of this.
      this.query(Object.assign(query, { name }));
    });
  }

  /** `pg` leaves the socket open when it rejects a login itself: each attempt would take a connection for a minute. */
  override connect(): Promise<Client>;
  override connect(connected: (error: Error | null) => void): void;
  override connect(connected = (_: Error | null) => {}): unknown {
    return super.connect((error: Error | null) => {
      const problem = this.#refusal ?? error;
      if (problem) this.connection.stream.destroy();
      connected(problem);
    });
  }
}

/**
 * Refuses a server that does not prove, bound to the TLS connection, that it knows the password. `pg` prefers such a
 * login, but accepts any other.
 */
function requireChannelBinding(connection: Connection, refuse: () => void): void {
  let isOffered = false;
  let isBound = false;
  const expectBound = () => {
    if (!isBound) refuse();
  };
  connection.on('authenticationSASL', ({ mechanisms }) => {
    isOffered = mechanisms.includes('SCRAM-SHA-256-PLUS');
    if (!isOffered) expectBound();
  });
  connection.on('authenticationSASLFinal', () => {
    isBound = isOffered;
  });
  for (const event of ['CleartextPassword', 'MD5Password', 'Ok']) {
    connection.on(`authentication${event}`, expectBound);
  }
}
