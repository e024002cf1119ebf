import { Socket } from 'node:net';
import {
  Client,
  type ClientConfig,
  type DatabaseError,
  type PoolClient,
  Query,
  type QueryResult,
  type QueryResultRow,
} from 'pg';

const WAIT_CANCELLED = 'an administrator cancelled the wait for a standby';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Makes it a prepared statement. */
  readonly name?: string | undefined;
}

/** A connection that a statement runs with. */
export type PlantClient = PoolClient & PlantStoreClient;

interface PlantStoreClientConfig extends Omit<ClientConfig, 'stream'> {
  readonly stream: () => Socket;
}

/** A client that knows whether a commit has reached the standbys. */
export class PlantStoreClient extends Client {
  /** Whether an administrator has ended the statement's wait for the standbys. */
  #waitIsCancelled = false;
  readonly #socket: Socket;

  constructor(config: PlantStoreClientConfig = { stream: () => new Socket() }) {
    const socket = config.stream();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    // One listener for all statements. Only this function of the server warns about a commit, in the language of the server.
    this.on('notice', ({ routine }: Pick<DatabaseError, 'routine'>) => {
      this.#waitIsCancelled ||= routine === 'SyncRepWaitForLSN';
    });
  }

  /**
   * Runs a statement whose commit must be durable: an insert, or a read that flushes what it returns. Rejects when an
   * administrator ends its wait for the standbys: the server then only warns, and reports a commit that no standby may have.
   */
  runDurably<Row extends QueryResultRow>({ text, values, name }: Statement) {
    this.#waitIsCancelled = false;
    return new Promise<QueryResult<Row>>((resolve, reject) => {
      const query = new Query<Row>(text, [...values], (error, result) => {
        if (error) reject(error);
        else if (this.#waitIsCancelled) reject(new Error(WAIT_CANCELLED));
        else resolve(result);
      });
      // An object with the name would be copied, which is slow.
      this.query(Object.assign(query, { name }));
    });
  }

  /** Closes the connection without a word to the server, which may not respond. */
  close(): void {
    this.#socket.destroy();
  }

  /** `pg` leaves the socket open when it rejects a login itself: each attempt would take a connection for a minute. */
  override connect(): Promise<Client>;
  override connect(connected: (error: Error | null) => void): void;
  override connect(connected = (_: Error | null) => {}): unknown {
    return super.connect((error: Error | null) => {
      if (error) this.#socket.destroy();
      connected(error);
    });
  }
}
