import { setTimeout as wait } from 'node:timers/promises';
import type { MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';
import { type ConnectionOptions, explainedError, topologyProblem } from './connection-problem.js';
import { connectionOptionsOf } from './mongo-client.js';
import { credentialsRefused } from './server-code.js';

const MIN_LOG_IN_PAUSE_MS = 1_000;
/** Reached after several refusals, because some directories lock out a user that fails often. */
const MAX_LOG_IN_PAUSE_MS = 8_000;

/** Shorter than the driver's time-out, so that a host that does not respond is reported soon after startup. */
const MAX_SILENCE_MS = 1_500;

/** Why the database is not reachable. */
export type Unreachable = 'no server' | 'credentials';

/** Receives each change of the state of the database. */
export interface DatabaseListener {
  reachable(kind: 'standalone' | 'other'): void;
  unreachable(reason: Unreachable, cause: Error): void;
}

type Topology = TopologyDescriptionChangedEvent['newDescription'];
type Server = ReturnType<Topology['servers']['get']>;

/**
 * Keeps a client connected in the background until `closing` is aborted, and reports when the database becomes
 * reachable or unreachable. Reachable means that a server is known that accepts writes, and that it has accepted
 * the credentials since it last refused them.
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
    // The driver first reads files and resolves names; a close before that has no effect.
    client.on('topologyOpening', () => {
      if (closing.aborted) void client.close();
    });
    void this.#keepLoggingIn();
    void this.#reportSilence();
  }

  /** Why the database is not reachable; `undefined` while it is reachable, or while nothing is known yet. */
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
    this.#lose('credentials', explainedError(cause, this.#options));
    void this.#keepLoggingIn();
  }

  /**
   * The driver looks for servers by itself. But it does not resolve a name again after a failure, and it does
   * not report when credentials are accepted again.
   */
  async #keepLoggingIn(): Promise<void> {
    if (this.#loggingIn) return;
    this.#loggingIn = true;
    for (let pause = MIN_LOG_IN_PAUSE_MS; !this.#loggedIn && !this.#closing.aborted; ) {
      const refused = await this.#tryToLogIn();
      if (this.#loggedIn) break;
      await wait(pause, undefined, { signal: this.#closing }).catch(() => undefined);
      if (refused) pause = Math.min(2 * pause, MAX_LOG_IN_PAUSE_MS);
    }
    this.#loggingIn = false;
    this.#gain();
  }

  /** Resolves with whether the credentials were refused. */
  async #tryToLogIn(): Promise<boolean> {
    try {
      await this.#logIn();
      this.#loggedIn = true;
      return false;
    } catch (error) {
      const refused = credentialsRefused(error);
      this.#lose(refused ? 'credentials' : 'no server', explainedError(error, this.#options));
      return refused;
    }
  }

  async #reportSilence(): Promise<void> {
    await wait(MAX_SILENCE_MS, undefined, { signal: this.#closing }).catch(() => undefined);
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
