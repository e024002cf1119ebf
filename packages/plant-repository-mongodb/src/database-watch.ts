import { setTimeout as wait } from 'node:timers/promises';
import type { MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';

const CONNECT_AGAIN_AFTER = 1_000;

/** Less than the driver waits for a silent host, so that whoever starts the service hears of it soon. */
const SILENT_AFTER = 1_500;

/** What is told of the database, each at a change only. */
export interface DatabaseListener {
  reachable(kind: 'standalone' | 'other'): void;
  unreachable(cause: Error | undefined): void;
}

type Topology = TopologyDescriptionChangedEvent['newDescription'];

/** Keeps a client connected in the background, and tells when a server that takes writes comes and goes. */
export class DatabaseWatch {
  readonly #client: MongoClient;
  readonly #listener: DatabaseListener;
  readonly #closing: AbortSignal;
  #reachable: boolean | undefined;

  constructor(client: MongoClient, listener: DatabaseListener, closing: AbortSignal) {
    this.#client = client;
    this.#listener = listener;
    this.#closing = closing;
    client.on('topologyDescriptionChanged', ({ newDescription }) => this.#look(newDescription));
    void this.#connect();
    void this.#tellOfSilence();
  }

  /** The driver looks for servers by itself, but not again for a name that it could not resolve. */
  async #connect(): Promise<void> {
    while (!this.#closing.aborted) {
      try {
        await this.#client.connect();
        return;
      } catch (error) {
        if (!this.#closing.aborted) this.#becomeUnreachable(error);
        await wait(CONNECT_AGAIN_AFTER, undefined, { signal: this.#closing }).catch(
          () => undefined,
        );
      }
    }
  }

  async #tellOfSilence(): Promise<void> {
    await wait(SILENT_AFTER, undefined, { signal: this.#closing }).catch(() => undefined);
    if (this.#closing.aborted || this.#reachable !== undefined) return;
    this.#becomeUnreachable(new Error('no server that takes writes has answered yet'));
  }

  #look(topology: Topology): void {
    if (this.#closing.aborted) return;
    const servers = [...topology.servers.values()];
    const writable = servers.find(({ isWritable }) => isWritable);
    const failed = servers.find(({ error }) => error);
    const looking = servers.some(({ type, error }) => type === 'Unknown' && !error);
    if (writable) this.#becomeReachable(writable.type === 'Standalone' ? 'standalone' : 'other');
    else if (this.#reachable || !looking) this.#becomeUnreachable(failed?.error);
  }

  #becomeReachable(kind: 'standalone' | 'other'): void {
    if (this.#reachable === true) return;
    this.#reachable = true;
    this.#listener.reachable(kind);
  }

  #becomeUnreachable(cause: unknown): void {
    if (this.#reachable === false) return;
    this.#reachable = false;
    this.#listener.unreachable(cause instanceof Error ? cause : undefined);
  }
}
