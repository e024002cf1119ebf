import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { StorageUnavailableError } from '@plant-store/domain';
import type { MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';
import { explainedError, SILENT, topologyProblem } from '../connection/connection-problem.js';
import type { Disclosure } from '../connection/disclosure.js';
import { credentialsRefused, isReply, refusesEveryPlant } from '../connection/server-code.js';
import type { StorageObserver } from './storage-event.js';

/** The time limit of one check, which leaves the rest of the 2 seconds of `PlantRepository.ready` to a busy process. */
const CHECK_TIMEOUT_MS = 1_500;
const CHECK_INTERVAL_MS = 1_000;
/** Reached after several refused logins, because some directories lock out a user that fails often. */
const MAX_LOG_IN_INTERVAL_MS = 8_000;

const STANDALONE =
  'the server is a standalone: there is no second copy of the plants. Use a replica set';

type Topology = TopologyDescriptionChangedEvent['newDescription'];

/** What a check has found. `credentials` and `refusal` last until an administrator changes something. */
type Finding = 'reachable' | 'no server' | 'credentials' | 'refusal' | 'not now';

/** What is wrong with the database, where that is not in the cause. */
const WHAT: Readonly<Partial<Record<Finding, string>>> = {
  'no server': 'is not reachable',
  credentials: 'refuses the credentials',
  'not now': 'accepts no plants',
};

/** Checks that the database stores plants. */
export interface Check {
  /** Rejects with the reason why it does not, or with that of the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Knows whether the database accepts plants: the events, `ready` and the refusal of creates all follow from this one
 * state. It is the result of the last check, or a loss of the primary after it, which the driver reports at once.
 */
export class Availability {
  readonly #client: MongoClient;
  readonly #disclosure: Disclosure;
  readonly #collection: Check;
  readonly #observe: StorageObserver;
  readonly #closing: AbortSignal;
  readonly #changes = new EventEmitter();
  #topology: Topology | undefined;
  #finding: Finding | undefined;
  #problem: StorageUnavailableError | undefined;
  /** Whether the log has the reason. A busy server may only show it after it did not respond in time. */
  #hasReason = false;
  #checking: Promise<void> | undefined;
  #wasReached = false;
  #reaching: Promise<void> | undefined;

  /** Checks every second until `closing` is aborted. */
  constructor(
    client: MongoClient,
    disclosure: Disclosure,
    check: Check,
    observe: StorageObserver,
    closing: AbortSignal,
  ) {
    this.#client = client;
    this.#disclosure = disclosure;
    this.#collection = check;
    this.#observe = observe;
    this.#closing = closing;
    client.on('topologyDescriptionChanged', ({ newDescription }) => this.#update(newDescription));
    // The driver first reads files and resolves names; a close before that has no effect.
    client.on('topologyOpening', () => {
      if (closing.aborted) void client.close();
    });
    void this.#keepChecking();
  }

  /** Like `PlantRepository.ready`. Concurrent calls share one check. Does not log in more often than this object. */
  async ready(): Promise<void> {
    if (this.#finding !== 'credentials') await this.#check();
    if (this.#problem) throw this.#problem;
  }

  /** Returns what to reject with when plants could not be read. */
  failedRead(error: unknown): StorageUnavailableError {
    const cause = explainedError(error, this.#client.options);
    const options = { cause: this.#disclosure.error(cause) };
    return this.#problem ?? new StorageUnavailableError('the plants could not be read', options);
  }

  /** Why every plant is refused at once; `undefined` when plants are sent, or wait for a server. */
  get refusal(): Error | undefined {
    const refuses = this.#finding === 'credentials' || this.#finding === 'refusal';
    return refuses ? this.#problem : undefined;
  }

  /**
   * Returns `undefined` when the database has accepted plants before. Otherwise settles with the next check, so that no
   * plant is sent to a collection that loses it. Concurrent calls share one promise.
   */
  reached(): Promise<void> | undefined {
    if (this.#wasReached) return undefined;
    this.#reaching ??= this.#nextCheck().finally(() => {
      this.#reaching = undefined;
    });
    return this.#reaching;
  }

  async #nextCheck(): Promise<void> {
    await once(this.#changes, 'checked');
    if (this.#problem) throw this.#problem;
  }

  /** A refused login is retried after 1, 2, 4 and 8 s. */
  async #keepChecking(): Promise<void> {
    for (let pause = CHECK_INTERVAL_MS; !this.#closing.aborted; ) {
      await this.#check();
      await wait(pause, undefined, { signal: this.#closing }).catch(() => undefined);
      const next = this.#finding === 'credentials' ? 2 * pause : CHECK_INTERVAL_MS;
      pause = Math.min(next, MAX_LOG_IN_INTERVAL_MS);
    }
  }

  #check(): Promise<void> {
    this.#checking ??= this.#checkOnce().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkOnce(): Promise<void> {
    const limit = new AbortController();
    const silence = new DOMException('the check timed out', 'TimeoutError');
    const timer = setTimeout(() => limit.abort(silence), CHECK_TIMEOUT_MS);
    try {
      await this.#collection.run(limit.signal);
      this.#warnOfStandalone();
      this.#wasReached = true;
      this.#become('reachable');
    } catch (error) {
      this.#explain(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #explain(error: unknown): void {
    const cause = explainedError(error, this.#client.options);
    if (credentialsRefused(error)) this.#become('credentials', cause);
    else if (refusesEveryPlant(error)) this.#become('refusal', cause);
    else if (this.#topology && !this.#primary) this.#hasNoPrimary(this.#topology);
    else this.#become(isReply(error) ? 'not now' : 'no server', cause);
  }

  #hasNoPrimary(topology: Topology): void {
    const responds = [...topology.servers.values()].some(({ type }) => type !== 'Unknown');
    const cause = new Error(topologyProblem(topology, this.#client.options));
    this.#become(responds ? 'not now' : 'no server', cause);
  }

  get #primary() {
    return [...(this.#topology?.servers.values() ?? [])].find(({ isWritable }) => isWritable);
  }

  #warnOfStandalone(): void {
    if (this.#wasReached || this.#primary?.type !== 'Standalone') return;
    this.#observe({ type: 'storage warning', message: STANDALONE });
  }

  #update(topology: Topology): void {
    // A topology that opens or closes knows no server.
    if (topology.type === 'Unknown' && topology.servers.size === 0) return;
    this.#topology = topology;
    if (this.#finding === undefined) return;
    if (!this.#primary) {
      const isNews = this.#finding === 'reachable' || !looksForServers(topology);
      if (isNews && !refusesLogin(topology)) this.#hasNoPrimary(topology);
    } else if (this.#problem && this.#finding !== 'credentials') void this.#check();
  }

  #become(finding: Finding, cause?: Error): void {
    if (this.#closing.aborted) return;
    const isFirst = this.#finding === undefined;
    const before = this.#problem?.message;
    this.#finding = finding;
    this.#problem = cause && this.#unavailable(finding, this.#disclosure.withoutPorts(cause));
    this.#changes.emit('checked');
    const isSame = !isFirst && this.#problem?.message === before;
    const hadReason = isSame && this.#hasReason;
    this.#hasReason = hadReason || cause?.message !== SILENT;
    if (isSame && hadReason === this.#hasReason) return;
    if (this.#problem) this.#observe({ type: 'storage unreachable', error: this.#problem });
    else this.#observe({ type: 'storage reachable' });
  }

  #unavailable(finding: Finding, cause: Error): StorageUnavailableError {
    const what = WHAT[finding];
    if (!what) return new StorageUnavailableError(`plants are refused: ${cause.message}`);
    const hosts = this.#disclosure.hosts.join(', ');
    return new StorageUnavailableError(`the database at ${hosts} ${what}`, { cause });
  }
}

/** Whether the driver does not know of a server yet what it is, for example after a new attempt to connect. */
function looksForServers({ servers }: Topology): boolean {
  return [...servers.values()].some(({ type, error }) => type === 'Unknown' && !error);
}

/** Whether a server has just refused a login: the driver forgets the type of that server for a moment. */
function refusesLogin({ servers }: Topology): boolean {
  return [...servers.values()].some(({ error }) => credentialsRefused(error));
}
