import { setTimeout as wait } from 'node:timers/promises';
import type { MongoClient, TopologyDescription } from 'mongodb';
import {
  connectionProblem,
  credentialsRefused,
  SILENT,
  topologyProblem,
} from './connection-problem.js';
import { connectionOptionsOf } from './mongo-client.js';

const CONNECT_AGAIN_AFTER_MS = 1_000;

/** Less than the driver waits for a silent host, so that whoever starts the service hears of it soon. */
const SILENT_AFTER_MS = 1_500;

/** What is told of the database, each at a change only. */
export interface DatabaseListener {
  reachable(kind: 'standalone' | 'other'): void;
  unreachable(cause: Error): void;
}

/** What is known of the database at this moment. */
export interface DatabaseState {
  /** Why no server takes writes, in one sentence; `undefined` while one does, or nothing is known yet. */
  readonly problem: Error | undefined;
}

/**
 * Keeps a client connected in the background, and tells when a server that takes writes, and accepts
 * the credentials, comes and goes, until `closing` is aborted.
 */
export function watchDatabase(
  client: MongoClient,
  listener: DatabaseListener,
  closing: AbortSignal,
): DatabaseState {
  const reachability = new Reachability(client, listener, closing);
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    reachability.update(newDescription);
  });
  // The driver reads files and asks DNS first: a close that comes before is lost on it.
  client.on('topologyOpening', () => {
    if (closing.aborted) void client.close();
  });
  void connect(client, reachability, closing);
  void tellOfSilence(reachability, closing);
  return reachability;
}

/** The driver looks for servers by itself, but not again for a name that it could not resolve. */
async function connect(
  client: MongoClient,
  reachability: Reachability,
  closing: AbortSignal,
): Promise<void> {
  while (!closing.aborted) {
    try {
      await client.connect();
      return reachability.accept();
    } catch (error) {
      reachability.refuse(error);
      await wait(CONNECT_AGAIN_AFTER_MS, undefined, { signal: closing }).catch(() => undefined);
    }
  }
}

async function tellOfSilence(reachability: Reachability, closing: AbortSignal): Promise<void> {
  await wait(SILENT_AFTER_MS, undefined, { signal: closing }).catch(() => undefined);
  if (!reachability.known) reachability.lose(SILENT);
}

class Reachability implements DatabaseState {
  readonly #client: MongoClient;
  readonly #listener: DatabaseListener;
  readonly #closing: AbortSignal;
  #topology: TopologyDescription | undefined;
  /** The credentials are checked once, when the client connects: a server that takes writes is no use before. */
  #accepted = false;
  #reachable: boolean | undefined;
  problem: Error | undefined;

  constructor(client: MongoClient, listener: DatabaseListener, closing: AbortSignal) {
    this.#client = client;
    this.#listener = listener;
    this.#closing = closing;
  }

  get known(): boolean {
    return this.#reachable !== undefined;
  }

  accept(): void {
    this.#accepted = true;
    if (this.#topology) this.update(this.#topology);
  }

  refuse(error: unknown): void {
    const told = this.problem?.message;
    const problem = connectionProblem(error, connectionOptionsOf(this.#client));
    // Whoever has heard of an outage has to hear that it is over, and the password wrong.
    if (credentialsRefused(error) && told !== problem) this.#reachable = undefined;
    this.lose(problem);
  }

  update(topology: TopologyDescription): void {
    this.#topology = topology;
    const servers = [...topology.servers.values()];
    const writable = servers.find(({ isWritable }) => isWritable);
    const looking = servers.some(({ type, error }) => type === 'Unknown' && !error);
    if (writable) this.#gain(writable.type === 'Standalone' ? 'standalone' : 'other');
    else if (this.#reachable || !looking)
      this.lose(topologyProblem(topology, connectionOptionsOf(this.#client)));
  }

  lose(problem: string): void {
    if (this.#closing.aborted) return;
    this.problem = new Error(problem);
    if (this.#reachable === false) return;
    this.#reachable = false;
    this.#listener.unreachable(this.problem);
  }

  #gain(kind: 'standalone' | 'other'): void {
    if (!this.#accepted || this.#reachable || this.#closing.aborted) return;
    this.#reachable = true;
    this.problem = undefined;
    this.#listener.reachable(kind);
  }
}
