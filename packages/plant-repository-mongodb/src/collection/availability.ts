import { StorageUnavailableError } from '@plant-store/domain';
import type { MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';
import { explainedError, SILENT, topologyProblem } from '../connection/connection-problem.js';
import { credentialsRefused, isReply, refusesEveryPlant } from '../connection/server-code.js';
import { CLOCK } from './clock.js';
import type { CollectionCheck } from './collection-check.js';
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

/** What an {@link Availability} uses. */
export interface AvailabilityOptions {
  /** The database in messages. */
  readonly hosts: string;
  readonly check: Pick<CollectionCheck, 'run'>;
  readonly observer: StorageObserver;
  /** Ends the checks. */
  readonly closing: AbortSignal;
  readonly clock?: Pick<typeof CLOCK, 'after'>;
}

/**
 * Knows whether the database accepts plants. The events, `ready` and the refusal of creates all follow from one state:
 * the result of the last check.
 */
export class Availability {
  readonly #client: MongoClient;
  readonly #options: AvailabilityOptions;
  #topology: Topology | undefined;
  #finding: Finding | undefined;
  #problem: StorageUnavailableError | undefined;
  /** Whether the log has the reason. A busy server may only show it after it did not respond in time. */
  #hasReason = false;
  #checking: Promise<void> | undefined;
  #wasReached = false;
  #cancelNext: () => void = () => undefined;

  /** Checks every second until `closing` is aborted. */
  constructor(client: MongoClient, options: AvailabilityOptions) {
    this.#client = client;
    this.#options = options;
    client.on('topologyDescriptionChanged', ({ newDescription: topology }) => {
      // A topology that opens or closes knows no server.
      if (topology.servers.size > 0 || topology.type !== 'Unknown') this.#topology = topology;
    });
    // The driver first reads files and resolves names; a close before that has no effect.
    client.on('topologyOpening', () => {
      if (options.closing.aborted) void client.close();
    });
    options.closing.addEventListener('abort', () => this.#cancelNext());
    void this.#keepChecking(CHECK_INTERVAL_MS);
  }

  /** Like `PlantRepository.ready`. Concurrent calls share one check. Does not log in more often than this object. */
  async ready(): Promise<void> {
    if (this.#finding !== 'credentials') await this.#check();
    if (this.#problem) throw this.#problem;
  }

  /** Returns what to reject with when plants could not be read. */
  failedRead(error: unknown): StorageUnavailableError {
    const cause = explainedError(error, this.#client.options);
    return this.#problem ?? new StorageUnavailableError('the plants could not be read', { cause });
  }

  /** Why every plant is refused at once; `undefined` when plants are sent, or wait for a server. */
  get refusal(): Error | undefined {
    const refuses = this.#finding === 'credentials' || this.#finding === 'refusal';
    return refuses ? this.#problem : undefined;
  }

  /**
   * Returns `undefined` when the database has accepted plants before. Otherwise settles like {@link ready}, so that no
   * plant is sent to a collection that loses it.
   */
  reached(): Promise<void> | undefined {
    return this.#wasReached ? undefined : this.ready();
  }

  /** Checks now, and again after a pause: a refused login is retried after 1, 2, 4 and 8 s. */
  async #keepChecking(logInPause: number): Promise<void> {
    await this.#check();
    const { closing, clock = CLOCK } = this.#options;
    if (closing.aborted) return;
    const isRefused = this.#finding === 'credentials';
    const pause = isRefused ? logInPause : CHECK_INTERVAL_MS;
    const next = isRefused ? Math.min(2 * pause, MAX_LOG_IN_INTERVAL_MS) : CHECK_INTERVAL_MS;
    this.#cancelNext = clock.after(pause, () => void this.#keepChecking(next));
  }

  #check(): Promise<void> {
    this.#checking ??= this.#checkOnce().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkOnce(): Promise<void> {
    try {
      await this.#options.check.run(AbortSignal.timeout(CHECK_TIMEOUT_MS));
      this.#warnOfStandalone();
      this.#wasReached = true;
      this.#become('reachable');
    } catch (error) {
      this.#explain(error);
    }
  }

  #explain(error: unknown): void {
    const cause = explainedError(error, this.#client.options);
    if (credentialsRefused(error)) this.#become('credentials', cause);
    else if (refusesEveryPlant(error)) this.#become('refusal', cause);
    else if (this.#topology && !this.#servers.some(({ isWritable }) => isWritable)) {
      const responds = this.#servers.some(({ type }) => type !== 'Unknown');
      const noPrimary = new Error(topologyProblem(this.#topology, this.#client.options));
      this.#become(responds ? 'not now' : 'no server', noPrimary);
    } else this.#become(isReply(error) ? 'not now' : 'no server', cause);
  }

  get #servers() {
    return [...(this.#topology?.servers.values() ?? [])];
  }

  #warnOfStandalone(): void {
    if (this.#wasReached || !this.#servers.some(({ type }) => type === 'Standalone')) return;
    this.#options.observer({ type: 'storage warning', message: STANDALONE });
  }

  #become(finding: Finding, cause?: Error): void {
    if (this.#options.closing.aborted) return;
    const isFirst = this.#finding === undefined;
    const before = this.#problem?.message;
    this.#finding = finding;
    this.#problem = cause && this.#unavailable(finding, cause);
    const isSame = !isFirst && this.#problem?.message === before;
    const hadReason = isSame && this.#hasReason;
    this.#hasReason = hadReason || cause?.message !== SILENT;
    if (isSame && hadReason === this.#hasReason) return;
    const { observer } = this.#options;
    if (this.#problem) observer({ type: 'storage unreachable', error: this.#problem });
    else observer({ type: 'storage reachable' });
  }

  #unavailable(finding: Finding, cause: Error): StorageUnavailableError {
    const what = WHAT[finding];
    if (!what) return new StorageUnavailableError(`plants are refused: ${cause.message}`);
    return new StorageUnavailableError(`the database at ${this.#options.hosts} ${what}`, { cause });
  }
}
