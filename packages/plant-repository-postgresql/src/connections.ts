import { Socket } from 'node:net';
import { Pool, type PoolClient } from 'pg';
import { requestCancel } from './request-cancel.js';
import { endsConnection, withoutPlant } from './server-error.js';

const CONNECTED_WITHIN_MS = 20_000;

/** A statement without a reply is abandoned after this time: its connection may be lost without a sign. */
const DEAD_AFTER_MS = 60_000;

/**
 * A statement that the server does not cancel keeps its connection for this time. No other connection is opened in its
 * place, since its backend is alive.
 */
const CANCELLED_WITHIN_MS = 20_000;

/** What is left after this time when the connections are closed is destroyed. */
const CLOSED_WITHIN_MS = 500;

/** Connections to a server for one purpose. */
export class Connections {
  readonly #pool: Pool;
  readonly #sockets = new Set<Socket>();
  readonly #statements = new Set<() => void>();

  constructor(connectionString: string, max: number) {
    this.#pool = new Pool({
      connectionString,
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
   * Runs statements with one connection. Rejects with a {@link StorageError} when the server reports an error.
   *
   * @param signal When it aborts, this rejects, and the server cancels the statement.
   */
  run<T>(work: (client: PoolClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const running = this.#run(work, signal).catch((error: unknown) => {
      throw withoutPlant(error);
    });
    if (signal === undefined) return running;
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop);
      running.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }

  /** Cancels every statement, and closes every connection. */
  async close(): Promise<void> {
    for (const abandon of this.#statements) abandon();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, CLOSED_WITHIN_MS);
    await this.#pool.end();
    clearTimeout(timer);
  }

  async #run<T>(work: (client: PoolClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const client = await this.#pool.connect();
    let cancelled: Promise<void> | undefined;
    let timer: NodeJS.Timeout;
    const abandon = () => {
      if (cancelled) return;
      cancelled = requestCancel(client, this.#newSocket());
      clearTimeout(timer);
      timer = setTimeout(() => void client.end(), CANCELLED_WITHIN_MS);
    };
    timer = setTimeout(abandon, DEAD_AFTER_MS);
    signal?.addEventListener('abort', abandon);
    this.#statements.add(abandon);
    let closes = false;
    try {
      signal?.throwIfAborted();
      return await work(client);
    } catch (error) {
      closes = endsConnection(error);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abandon);
      this.#statements.delete(abandon);
      void this.#giveBack(client, closes, cancelled);
    }
  }

  /** The pool opens another connection only once the server has ended the backend of this one. */
  async #giveBack(client: PoolClient, closes: boolean, cancelled: Promise<void> | undefined) {
    if (cancelled) await cancelled;
    if (closes) await client.end();
    client.release(closes);
  }

  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.on('close', () => this.#sockets.delete(socket));
  }
}
