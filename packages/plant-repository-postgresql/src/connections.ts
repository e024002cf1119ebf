import { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, type ClientConfig, Connection, Pool, type PoolClient } from 'pg';
import type { Connecting } from './connection-string.js';
import {
  endsConnection,
  PostgresqlError,
  wasIdle,
  whyNotConnected,
  withoutPlant,
} from './server-error.js';

const CONNECTED_WITHIN_MS = 20_000;

/** How long a statement that the server does not cancel may keep its connection, since its backend is still alive. */
const CANCELLED_WITHIN_MS = 20_000;

/** A statement ends within this time after the server has carried out the request to cancel it, unless the connection is lost. */
const ENDED_WITHIN_MS = 3_000;

/** How long closing may take before the remaining connections are destroyed. */
const CLOSED_WITHIN_MS = 500;

const UNBOUND = 'the server offers no channel binding, which channel_binding=require asks for';

/** Statements in progress on one connection. */
interface Statement {
  cancel: () => void;
}

/** Connections to a server for one purpose. */
export class Connections {
  readonly #pool: Pool;
  /** All connections are replaced together, because a firewall or a failed host often drops all of them silently. */
  readonly #sockets = new Set<Socket>();
  /** Cancel what is in flight at a stop: a backend that waits for a lock does not notice a closed connection. */
  readonly #statements = new Set<Statement>();
  #hasLost = false;
  /** Whether the latest attempt to get a connection has failed. */
  #lacksConnection = false;

  constructor({ connectionString, enableChannelBinding = false }: Connecting, max: number) {
    this.#pool = new Pool({
      connectionString,
      enableChannelBinding,
      Client: ClosingClient,
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
   * Runs statements with one connection, and once again if that one was closed because it was idle. Rejects with a
   * `PostgresqlError` when the server reports an error; with the reason of `signal` when it aborts, and cancels then.
   */
  run<T>(work: (client: PoolClient) => Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const statement: Statement = { cancel: () => undefined };
      const stop = () => {
        reject(signal.reason);
        statement.cancel();
      };
      // One listener: an insert of one plant takes a tenth of its CPU time for it.
      signal.addEventListener('abort', stop);
      const settle = () => signal.removeEventListener('abort', stop);
      const running = this.#run(work, signal, statement).catch((error: unknown) => {
        if (wasIdle(error)) return this.#run(work, signal, statement);
        throw error;
      });
      running.then(resolve, reject).then(settle);
    });
  }

  /** Rejects if the latest attempt to get a connection failed and another attempt fails too. */
  async check(signal: AbortSignal): Promise<void> {
    if (this.#lacksConnection) await this.run(async () => undefined, signal);
  }

  /** Returns whether a connection has been silently lost since the last call. */
  takeLost(): boolean {
    const hasLost = this.#hasLost;
    this.#hasLost = false;
    return hasLost;
  }

  /** Closes all connections immediately; later statements open new ones. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cancels every statement, and closes every connection. */
  async close(): Promise<void> {
    for (const { cancel } of this.#statements) cancel();
    const timer = setTimeout(() => this.reset(), CLOSED_WITHIN_MS);
    await this.#pool.end();
    clearTimeout(timer);
  }

  async #run<T>(
    work: (client: PoolClient) => Promise<T>,
    signal: AbortSignal,
    statement: Statement,
  ): Promise<T> {
    const client = await this.#connect();
    if (signal.aborted) client.release();
    signal.throwIfAborted();
    const working = work(client);
    let cancelled: Promise<void> | undefined;
    statement.cancel = () => {
      cancelled ??= this.#cancel(client, working);
    };
    this.#statements.add(statement);
    let closes = false;
    try {
      return await working;
    } catch (error) {
      closes = endsConnection(error);
      throw withoutPlant(error);
    } finally {
      statement.cancel = () => undefined;
      this.#statements.delete(statement);
      void this.#giveBack(client, closes, cancelled);
    }
  }

  async #connect(): Promise<PoolClient> {
    try {
      const client = await this.#pool.connect();
      this.#lacksConnection = false;
      return client;
    } catch (error) {
      this.#lacksConnection = true;
      throw whyNotConnected(error);
    }
  }

  /** Cancels a statement on the server. Resolves when the server has done so. Closes a connection that gets no reply then. */
  async #cancel(client: PoolClient, working: Promise<unknown>): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    working.then(end, end);
    const closeAfter = (ms: number, isLost: boolean) => {
      const close = () => {
        this.#hasLost ||= isLost;
        void client.end();
      };
      wait(ms, undefined, { signal: ended.signal }).then(close, () => undefined);
    };
    closeAfter(CANCELLED_WITHIN_MS, false);
    const socket = this.#newSocket();
    const timer = setTimeout(() => socket.destroy(), CANCELLED_WITHIN_MS);
    await requestCancel(client, socket);
    clearTimeout(timer);
    closeAfter(ENDED_WITHIN_MS, true);
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

/** `pg` leaves the socket open when it rejects a login itself: each attempt would take a connection for a minute. */
class ClosingClient extends Client {
  #refusal: Error | undefined;

  constructor(config?: ClientConfig) {
    super(config);
    if (!config?.enableChannelBinding) return;
    requireChannelBinding(this.connection, () => {
      this.#refusal = new PostgresqlError(UNBOUND, 'credentials refused');
      this.connection.stream.destroy();
    });
  }

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

/** What `pg` does not document. Without it, an abandoned statement keeps its backend as long as the server waits. */
interface Undocumented {
  readonly processID: number;
  readonly secretKey: number;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * Asks the server to cancel the statement of a client, encrypted like that. Resolves when it has done so, or when the
 * socket for the request is closed. A request that is late could cancel the next statement.
 */
async function requestCancel(client: Client, socket: Socket): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client as Client & Undocumented;
  const request = new Connection({ ssl, stream: () => socket }) as Connection & Undocumented;
  const cancel = () => request.cancel(processID, secretKey);
  request.on('error', () => socket.destroy());
  request.on('connect', () => (ssl ? request.requestSsl() : cancel()));
  request.on('sslconnect', cancel);
  // `once` of Node.js would reject with the error of a server that cannot be reached.
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  if (host.startsWith('/')) request.connect(`${host}/.s.PGSQL.${port}`);
  else request.connect(port, host);
  await closed;
}
