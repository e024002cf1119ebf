import { setTimeout as wait } from 'node:timers/promises';
import type { MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';

const CONNECT_AGAIN_AFTER_MS = 1_000;

/** Less than the driver waits for a silent host, so that whoever starts the service hears of it soon. */
const SILENT_AFTER_MS = 1_500;

/** What is told of the database, each at a change only. */
export interface DatabaseListener {
  reachable(kind: 'standalone' | 'other'): void;
  unreachable(cause: Error | undefined): void;
}

type Topology = TopologyDescriptionChangedEvent['newDescription'];

/**
 * Keeps a client connected in the background, and tells when a server that takes writes comes and
 * goes, until `closing` is aborted.
 */
export function watchDatabase(
  client: MongoClient,
  listener: DatabaseListener,
  closing: AbortSignal,
): void {
  const reachability = new Reachability(listener, closing);
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    reachability.update(newDescription);
  });
  void connect(client, reachability, closing);
  void tellOfSilence(reachability, closing);
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
      return;
    } catch (error) {
      reachability.lose(error);
      await wait(CONNECT_AGAIN_AFTER_MS, undefined, { signal: closing }).catch(() => undefined);
    }
  }
}

async function tellOfSilence(reachability: Reachability, closing: AbortSignal): Promise<void> {
  await wait(SILENT_AFTER_MS, undefined, { signal: closing }).catch(() => undefined);
  if (reachability.known) return;
  reachability.lose(new Error('no server that takes writes has answered yet'));
}

class Reachability {
  readonly #listener: DatabaseListener;
  readonly #closing: AbortSignal;
  #reachable: boolean | undefined;

  constructor(listener: DatabaseListener, closing: AbortSignal) {
    this.#listener = listener;
    this.#closing = closing;
  }

  get known(): boolean {
    return this.#reachable !== undefined;
  }

  update(topology: Topology): void {
    const servers = [...topology.servers.values()];
    const writable = servers.find(({ isWritable }) => isWritable);
    const failed = servers.find(({ error }) => error);
    const looking = servers.some(({ type, error }) => type === 'Unknown' && !error);
    if (writable) this.#gain(writable.type === 'Standalone' ? 'standalone' : 'other');
    else if (this.#reachable || !looking) this.lose(failed?.error);
  }

  lose(cause: unknown): void {
    if (this.#reachable === false || this.#closing.aborted) return;
    this.#reachable = false;
    this.#listener.unreachable(cause instanceof Error ? cause : undefined);
  }

  #gain(kind: 'standalone' | 'other'): void {
    if (this.#reachable || this.#closing.aborted) return;
    this.#reachable = true;
    this.#listener.reachable(kind);
  }
}
