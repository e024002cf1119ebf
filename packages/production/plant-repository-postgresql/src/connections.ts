import { Socket } from 'node:net';
import type { PlantInsert } from '@plant-store/plant-repository-group-commit';
import { Client, type ClientConfig, type DatabaseError, Pool, type PoolClient } from 'pg';
import { explained, meaningOf, whyNotConnected } from './postgresql-error.js';

const CONNECTED_WITHIN_MS = 20_000;

/** How long closing may take before the remaining connections are destroyed. */
const CLOSED_WITHIN_MS = 500;

/** What a connection is for. Checks have their own: while all others wait, they say why. */
type Purpose = 'inserts' | 'reads' | 'checkReads' | 'checkWrites';

class PlantStoreClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    const { connection } = this;
    // `pg` leaves the socket open when it rejects a login itself: each attempt would take a connection for a minute.
    connection.on('error', () => connection.stream.destroy());
    // An administrator has ended the wait for the standbys: the server only warns, and reports a commit that no standby may
    // have. Only this function of it warns about a commit, in the server's language.
    this.on('notice', ({ routine }: Pick<DatabaseError, 'routine'>) => {
      if (routine !== 'SyncRepWaitForLSN') return;
      connection.emit('error', new Error('the wait for a standby was cancelled'));
    });
  }
}

/** The connections of a store. */
export class Connections {
  readonly #pools: Readonly<Record<Purpose, Pool>>;
  readonly #sockets = new Set<Socket>();
  readonly #idle = new Set<PoolClient>();
  /** For what the latest attempt to get a connection has failed. */
  readonly #lacking = new Set<Purpose>();
  /** Reads and checks that were given up and have no reply yet: what would show that they are lost, and how often it did. */
  readonly #givenUp = new Map<object, { readonly shownBy: Purpose; replies: number }>();

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
   * Runs statements with one connection. Rejects with a `PostgresqlStoreError` when the server reports an error.
   *
   * @param caller Ends the wait: this rejects with its reason. For an insert, that means that its connection is lost. Otherwise,
   *   the server may be slow, and is left to end the statement, which keeps its connection: sending more would take a backend
   *   each time.
   */
  run<T>(
    purpose: Purpose,
    statements: (client: PoolClient) => Promise<T>,
    caller: AbortSignal | Pick<PlantInsert, 'lose'>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let client: PoolClient | undefined;
      let isUnderWay = true;
      const giveUp = (reason: unknown) => {
        if (!isUnderWay) return;
        isUnderWay = false;
        reject(reason);
        // Reads of a check wait for nothing, its writes for what inserts and other reads wait for.
        const shownBy = purpose === 'reads' ? 'checkWrites' : purpose;
        if (purpose !== 'inserts') this.#givenUp.set(giveUp, { shownBy, replies: 0 });
        else for (const it of [client, ...this.#idle]) it?.connection.stream.destroy();
      };
      const work = async () => {
        let closes = false;
        try {
          client = await this.#pools[purpose].connect();
          this.#lacking.delete(purpose);
          if (!isUnderWay) throw new Error('given up');
          const result = await statements(client);
          for (const it of this.#givenUp.values()) if (it.shownBy === purpose) it.replies += 1;
          return result;
        } catch (error) {
          if (!client) this.#lacking.add(purpose);
          const hadPlants = purpose === 'inserts' || purpose === 'reads';
          const known = client ? explained(error, hadPlants) : whyNotConnected(error);
          closes = meaningOf(known).reconnects === true;
          throw known;
        } finally {
          isUnderWay = false;
          this.#givenUp.delete(giveUp);
          client?.release(closes);
        }
      };
      if ('lose' in caller) caller.lose = giveUp;
      else if (caller.aborted) return reject(caller.reason);
      else caller.addEventListener('abort', () => giveUp(caller.reason), { once: true });
      work().then(resolve, reject);
    });
  }

  /** Rejects if the latest attempt to get a connection for something failed and another attempt fails too. */
  async expectAll(signal: AbortSignal): Promise<void> {
    for (const purpose of this.#lacking) await this.run(purpose, async () => undefined, signal);
  }

  /** Closes all connections if one is lost: what has dropped one silently has often dropped others. */
  async replaceLost(): Promise<void> {
    if ([...this.#givenUp.values()].some(({ replies }) => replies > 1)) await this.#reset();
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
