import { Socket } from 'node:net';
import {
  Client,
  type ClientConfig,
  type DatabaseError,
  Pool,
  type PoolClient,
  Query,
  type QueryResult,
  type QueryResultRow,
} from 'pg';
import { explained, factsOf, whyNotConnected } from './postgresql-error.js';

const CONNECTED_WITHIN_MS = 20_000;

/** How long closing may take before the remaining connections are destroyed. */
const CLOSED_WITHIN_MS = 500;

/**
 * How long a statement that was given up may have no reply after a later one has got its own: until then, both the server
 * and the network may have stood still.
 */
const LOST_AFTER_MS = 1_000;

interface Statement {
  readonly text: string;
  readonly values: unknown[];
  /** Makes it a prepared statement. */
  readonly name?: string;
}

/** A client that knows whether a commit has reached the standbys. */
class PlantStoreClient extends Client {
  /** Whether an administrator has ended the statement's wait for the standbys. */
  #waitIsCancelled = false;

  constructor(config?: ClientConfig) {
    super(config);
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
      const query = new Query<Row>(text, values, (error, result) => {
        if (error) reject(error);
        else if (this.#waitIsCancelled) reject(new Error('the wait for a standby was cancelled'));
        else resolve(result);
      });
      // An object with the name would be copied, which is slow.
      this.query(name ? Object.assign(query, { name }) : query);
    });
  }

  /** `pg` leaves the socket open when it rejects a login itself: each attempt would take a connection for a minute. */
  override connect(): Promise<Client>;
  override connect(connected: (error: Error | null) => void): void;
  override connect(connected = (_: Error | null) => {}): unknown {
    return super.connect((error: Error | null) => {
      if (error) destroy(this);
      connected(error);
    });
  }
}

/** Closes a connection without a word to the server, which may not respond. */
function destroy({ connection }: Pick<Client, 'connection'>): void {
  connection.stream.destroy();
}

/** A connection that a statement runs with. */
export type PlantClient = PoolClient & PlantStoreClient;

/** What a connection is for. Checks have their own: while all others wait, they say why. */
type Purpose = 'inserts' | 'reads' | 'checkReads' | 'checkWrites';

/** What is under way on a connection. */
interface Work {
  readonly purpose: Purpose;
  client?: PlantClient;
  sentAt: number;
  /** When a later one had its reply first. */
  overtakenAt?: number;
}

/** The connections of a store. */
export class Connections {
  readonly #pools: Readonly<Record<Purpose, Pool>>;
  readonly #sockets = new Set<Socket>();
  readonly #idle = new Set<PoolClient>();
  /** For what the latest attempt to get a connection has failed. */
  readonly #lacking = new Set<Purpose>();
  /** Reads and checks that were given up, and have no reply yet. */
  readonly #givenUp = new Set<Work>();

  constructor(connectionString: string, maxInserts: number) {
    const pool = (max: number) => this.#newPool(connectionString, max);
    this.#pools = {
      inserts: pool(maxInserts),
      reads: pool(2),
      // Two for each part of a check: if one is lost silently, the other shows it.
      checkReads: pool(2),
      checkWrites: pool(2),
    };
  }

  /**
   * Runs statements with one connection. Rejects with a `PostgresqlStoreError` when the server reports an error; with the
   * reason of `signal` when it aborts. For an insert, that means that its connection is lost. Otherwise, the server may be
   * slow, and is left to end the statement, which keeps its connection: sending more would take a backend each time.
   */
  run<T>(
    purpose: Purpose,
    statements: (client: PlantClient) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const work: Work = { purpose, sentAt: Infinity };
      const giveUp = () => {
        reject(signal.reason);
        if (purpose === 'inserts') for (const it of [work.client, ...this.#idle]) it && destroy(it);
        else this.#givenUp.add(work);
      };
      const begin = (client: PlantClient) => {
        signal.throwIfAborted();
        work.client = client;
        work.sentAt = performance.now();
        return statements(client);
      };
      const ended = () => {
        signal.removeEventListener('abort', giveUp);
        this.#givenUp.delete(work);
      };
      // A single listener, because each costs CPU time in every insert.
      signal.addEventListener('abort', giveUp);
      this.#run(work, begin, ended).then(resolve, reject);
    });
  }

  /** Rejects if the latest attempt to get a connection for something failed and another attempt fails too. */
  async expectAll(signal: AbortSignal): Promise<void> {
    for (const purpose of this.#lacking) await this.run(purpose, async () => undefined, signal);
  }

  /** Closes all connections if one is lost: what has dropped one silently has often dropped others. */
  async replaceLost(): Promise<void> {
    const since = performance.now() - LOST_AFTER_MS;
    const isLost = ({ overtakenAt = Infinity }: Work) => overtakenAt <= since;
    if ([...this.#givenUp].some(isLost)) await this.#reset();
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => void this.#reset(), CLOSED_WITHIN_MS);
    await Promise.all(Object.values(this.#pools).map((it) => it.end()));
    clearTimeout(timer);
  }

  /** Closes all connections. Once this resolves, statements open new ones. */
  async #reset(): Promise<void> {
    const closing = (socket: Socket) =>
      new Promise((resolve) => socket.once('close', resolve).destroy());
    await Promise.all([...this.#sockets].map(closing));
  }

  /** Reads of a check wait for nothing, its writes for what inserts and other reads wait for. */
  #overtake({ purpose, sentAt }: Work): void {
    for (const it of this.#givenUp) {
      const isAlike =
        it.purpose === purpose || (it.purpose === 'reads' && purpose === 'checkWrites');
      if (isAlike && it.sentAt < sentAt) it.overtakenAt ??= performance.now();
    }
  }

  async #run<T>(
    work: Work,
    begin: (client: PlantClient) => Promise<T>,
    ended: () => void,
  ): Promise<T> {
    const { purpose } = work;
    let client: PlantClient | undefined;
    let closes = false;
    try {
      client = (await this.#pools[purpose].connect()) as PlantClient;
      this.#lacking.delete(purpose);
      const result = await begin(client);
      this.#overtake(work);
      return result;
    } catch (error) {
      if (!client) this.#lacking.add(purpose);
      const hadPlants = purpose === 'inserts' || purpose === 'reads';
      const known = client ? explained(error, hadPlants) : whyNotConnected(error);
      closes = factsOf(known).reconnects === true;
      throw known;
    } finally {
      client?.release(closes);
      ended();
    }
  }

  #newPool(connectionString: string, max: number): Pool {
    const pool = new Pool({
      connectionString,
      Client: PlantStoreClient,
      max,
      // Several statements may be sent before the first one has a reply.
      pipeline: true,
      connectionTimeoutMillis: CONNECTED_WITHIN_MS,
      idleTimeoutMillis: 0,
      stream: () => this.#newSocket(),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      allowExitOnIdle: true,
    });
    // A lost connection emits `error`, which ends the process when no service listens. It needs no other
    // handling: the pool replaces idle connections, and a statement in progress rejects.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    pool.on('release', (_, client) => this.#idle.add(client));
    pool.on('acquire', (client) => this.#idle.delete(client));
    pool.on('remove', (client) => this.#idle.delete(client));
    return pool;
  }

  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.on('close', () => this.#sockets.delete(socket));
  }
}
