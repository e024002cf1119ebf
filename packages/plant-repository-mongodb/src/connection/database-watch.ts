import { setTimeout as wait } from 'node:timers/promises';
import type { MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';
import { type ConnectionOptions, explained, topologyProblem } from './connection-problem.js';
import { connectionOptionsOf } from './mongo-client.js';
import { credentialsRefused } from './server-code.js';

const LOG_IN_AGAIN_AFTER_MS = 1_000;
/** After several refusals: some directories lock out a user that fails often. */
const LOG_IN_AGAIN_AFTER_AT_MOST_MS = 8_000;

/** Less than the driver waits for a silent host, so that it is reported soon after startup. */
const SILENT_AFTER_MS = 1_500;

/** Why the database is not reachable. */
export type Unreachable = 'no server' | 'credentials';

/** Receives the state of the database, at a change only. */
export interface DatabaseListener {
  reachable(kind: 'standalone' | 'other'): void;
  unreachable(reason: Unreachable, cause: Error): void;
}

type Topology = TopologyDescriptionChangedEvent['newDescription'];
type Server = ReturnType<Topology['servers']['get']>;

/**
 * Keeps a client connected in the background until `closing` is aborted. Reports when the database
 * becomes reachable and when it stops being so: reachable means that a server that takes writes is
 * known, and that it has accepted the credentials since it last refused them.
 */
export class DatabaseWatch {
  readonly #logIn: () => Promise<unknown>;
  readonly #listener: DatabaseListener;
  readonly #closing: AbortSignal;
  readonly #options: ConnectionOptions;
  #state: 'reachable' | Unreachable | undefined;
  #problem: Error | undefined;
  #topology: Topology | undefined;
  #writable: Server;
  #loggedIn = false;
  #loggingIn = false;

  /** @param logIn Rejects when no server is found, or when the server refuses the credentials. */
  constructor(
    client: MongoClient,
    logIn: () => Promise<unknown>,
    listener: DatabaseListener,
    closing: AbortSignal,
  ) {
    this.#options = connectionOptionsOf(client);
    this.#logIn = logIn;
    this.#listener = listener;
    this.#closing = closing;
    client.on('topologyDescriptionChanged', ({ newDescription }) => this.#update(newDescription));
    // The driver reads files and asks DNS first: a close that comes before is lost on it.
    client.on('topologyOpening', () => {
      if (closing.aborted) void client.close();
    });
    void this.#keepLoggingIn();
    void this.#reportSilence();
  }

  /** Why the database is not reachable, in one sentence; `undefined` while it is, or nothing is known yet. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  #update(topology: Topology): void {
    const servers = [...topology.servers.values()];
    const refused = servers.find(({ error }) => credentialsRefused(error));
    const looking = servers.some(({ type, error }) => type === 'Unknown' && !error);
    this.#topology = topology;
    this.#writable = servers.find(({ isWritable }) => isWritable);
    if (refused?.error) this.#refuse(refused.error);
    else if (this.#writable) this.#gain();
    else if (this.#state === 'reachable' || (servers.length > 0 && !looking)) {
      this.#lose('no server', new Error(topologyProblem(topology, this.#options)));
    }
  }

  #refuse(cause: unknown): void {
    this.#loggedIn = false;
    this.#lose('credentials', explained(cause, this.#options));
    void this.#keepLoggingIn();
  }

  /**
   * The driver looks for servers by itself, but not again for a name that it could not resolve, and
   * it does not report when credentials are accepted again.
   */
  async #keepLoggingIn(): Promise<void> {
    if (this.#loggingIn) return;
    this.#loggingIn = true;
    for (let pause = LOG_IN_AGAIN_AFTER_MS; !this.#loggedIn && !this.#closing.aborted; ) {
      const refused = await this.#tryToLogIn();
      if (this.#loggedIn) break;
      await wait(pause, undefined, { signal: this.#closing }).catch(() => undefined);
      if (refused) pause = Math.min(2 * pause, LOG_IN_AGAIN_AFTER_AT_MOST_MS);
    }
    this.#loggingIn = false;
    this.#gain();
  }

  /** Whether the credentials were refused. */
  async #tryToLogIn(): Promise<boolean> {
    try {
      await this.#logIn();
      this.#loggedIn = true;
      return false;
    } catch (error) {
      const refused = credentialsRefused(error);
      this.#lose(refused ? 'credentials' : 'no server', explained(error, this.#options));
      return refused;
    }
  }

  async #reportSilence(): Promise<void> {
    await wait(SILENT_AFTER_MS, undefined, { signal: this.#closing }).catch(() => undefined);
    if (this.#state !== undefined) return;
    this.#lose('no server', new Error(topologyProblem(this.#topology, this.#options)));
  }

  #lose(reason: Unreachable, cause: Error): void {
    if (this.#closing.aborted) return;
    this.#problem = cause;
    if (this.#state === reason) return;
    this.#state = reason;
    this.#listener.unreachable(reason, cause);
  }

  #gain(): void {
    if (!this.#writable || !this.#loggedIn || this.#closing.aborted) return;
    if (this.#state === 'reachable') return;
    this.#state = 'reachable';
    this.#problem = undefined;
    this.#listener.reachable(this.#writable.type === 'Standalone' ? 'standalone' : 'other');
  }
}
