import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type Db, MongoClient } from 'mongodb';
import { explain, type Topology } from './explain.js';
import { MongoStoreError } from './mongo-store-error.js';
import { databaseIn, InvalidMongoUriError, mongoUriProblem } from './mongo-uri.js';
import { sharedLookup } from './shared-lookup.js';

const OPTIONS = {
  // The driver would retry once; the repositories retry until the caller's time is over.
  retryWrites: false,
  retryReads: false,
  readPreference: 'primary',
  // These decide how soon a dead, a frozen and a new primary are noticed.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  serverSelectionTimeoutMS: 1_500,
  // Ends a login on a connection that was lost meanwhile. It ends an insert too, so it is longer than most callers wait.
  socketTimeoutMS: 20_000,
} as const;

const CLOSED_WITHIN_MS = 2_000;

/** The connections to the database that a connection string names, and what is known of its servers. */
export class MongoConnection {
  /** Sent with every insert, so that no server default can weaken it. */
  static readonly DURABLE = { w: 'majority', j: true };

  /** `plant-store`, if the connection string names no database. */
  readonly db: Db;
  #topology: Topology | undefined;

  /**
   * Opens no connection yet.
   *
   * @throws {InvalidMongoUriError}
   */
  constructor(uri: string, maxPoolSize: number) {
    const problem = mongoUriProblem(uri);
    if (problem !== undefined) throw new InvalidMongoUriError(problem);
    const client = new MongoClient(uri, { ...OPTIONS, maxPoolSize, lookup: sharedLookup() });
    this.db = client.db(databaseIn(uri, client));
    client.on('topologyDescriptionChanged', ({ newDescription: topology }) => {
      // A topology that opens or closes knows no server.
      if (topology.servers.size > 0 || topology.type !== 'Unknown') this.#topology = topology;
    });
  }

  /** The hosts, as the connection string or its SRV record names them. */
  get hosts(): string {
    const { srvHost, hosts } = this.db.client.options;
    return srvHost ?? hosts.join(', ');
  }

  /** Connects, unless it is connected: a client that has failed, or was closed, does not connect again by itself. */
  async connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await Promise.race([this.db.client.connect(), once(signal, 'abort')]);
    signal.throwIfAborted();
  }

  /** Connects, then calls `work` with a signal that aborts when the timer fires. */
  async abortAfter<T>(
    limitMs: number,
    work: (signal: AbortSignal, timer: NodeJS.Timeout) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new MongoStoreError('slow')), limitMs);
    try {
      await this.connect(limit.signal);
      return await work(limit.signal, timer);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Explains why a command failed: if no known server accepts writes, by what is known of them. */
  explain(error: unknown): MongoStoreError {
    return explain(error, this.#topology, this.db.client.options);
  }

  /** Ends every connection and session, within about two seconds. */
  async close(): Promise<void> {
    const { client } = this.db;
    // The driver first reads files and resolves names, and opens its connections later.
    client.on('topologyOpening', () => void client.close());
    await Promise.race([client.close(), pause(CLOSED_WITHIN_MS, undefined, { ref: false })]);
    // If a server dies at this moment, driver 7.9.0 waits for its reply forever, and its monitors keep the process alive: only
    // its private `topology` ends them.
    const { topology } = client as MongoClient & { topology?: { close(): void } };
    topology?.close();
  }
}
