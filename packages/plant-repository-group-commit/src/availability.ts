import { setMaxListeners } from 'node:events';
import {
  type StorageObserver,
  StorageSlowError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { type Clock, NoResponseError, SILENT, withTimeLimit } from './clock.js';
import type { Finding, PlantStorage, Problem } from './plant-storage.js';

/** The time limit of one check, which leaves the rest of the 2 seconds of `PlantRepository.ready` to a busy process. */
const CHECK_TIMEOUT_MS = 1_500;
const CHECK_INTERVAL_MS = 1_000;
/** Reached after several refused logins, because some directories lock out a user that fails often. */
const MAX_LOG_IN_INTERVAL_MS = 8_000;

const STALLED = 'inserts get no response';

/** The time that a reply may take while the server responds to checks. */
const LOST_AFTER_MS = 10_000;
/** The time that a reply may take. */
const MAX_REPLY_MS = 60_000;
/** A check that takes longer, with its pause, is no sign that the server has responded all the time. */
const MAX_STEP_MS = CHECK_TIMEOUT_MS + CHECK_INTERVAL_MS;

/** What is wrong with the storage, where that is not in the cause. */
const WHAT: Readonly<Partial<Record<Finding, string>>> = {
  'no server': 'is not reachable',
  credentials: 'refuses the credentials',
  'not now': 'accepts no plants',
  slow: 'is slow',
};

/** What an {@link Availability} uses. */
interface AvailabilityOptions {
  readonly storage: Pick<PlantStorage, 'place' | 'check' | 'explain'>;
  readonly observer: StorageObserver;
  /** Ends the checks. */
  readonly closing: AbortSignal;
  /** Whether inserts get no replies, although the server responds to a check. */
  readonly isStalled: () => boolean;
  readonly clock: Clock;
}

/**
 * Knows whether the storage accepts plants. The events, `ready` and the refusal of creates all follow from one state:
 * the result of the last check.
 */
export class Availability {
  readonly #options: AvailabilityOptions;
  #finding: Finding | 'reachable' | undefined;
  #problem: StorageUnavailableError | undefined;
  /** Whether the log has the reason. A busy server may only show it after it did not respond in time. */
  #hasReason = false;
  #checking: Promise<void> | undefined;
  #wasReached = false;
  #cancelNext: () => void = () => undefined;
  readonly #lost = new LostConnections();
  /** Aborts when the connection of what is sent now counts as lost. */
  lost = this.#lost.signal;

  /** Checks every second until `closing` is aborted. */
  constructor(options: AvailabilityOptions) {
    this.#options = options;
    options.closing.addEventListener('abort', () => this.#cancelNext());
    void this.#keepChecking(CHECK_INTERVAL_MS);
  }

  /** Like `PlantRepository.ready`. Concurrent calls share one check. Does not log in more often than this object. */
  async ready(): Promise<void> {
    if (this.#finding !== 'credentials') await this.#check();
    if (this.#problem) throw this.#problem;
  }

  /** What every read rejects with now; `undefined` when the storage was available at the last check. */
  get problem(): StorageUnavailableError | undefined {
    return this.#problem;
  }

  /** Why every plant is refused at once; `undefined` when plants are sent, or wait for a server. */
  get denied(): StorageUnavailableError | undefined {
    const isDenied = this.#finding === 'credentials' || this.#finding === 'denied';
    return isDenied ? this.#problem : undefined;
  }

  /**
   * Returns `undefined` when the storage has accepted plants before, or would accept them slowly. Otherwise settles
   * like {@link ready}, so that no plant is sent to a storage that loses it.
   */
  reached(): Promise<void> | undefined {
    return this.#wasReached ? undefined : this.#firstReached();
  }

  async #firstReached(): Promise<void> {
    await this.ready().catch((error: unknown) => {
      if (!this.#wasReached) throw error;
    });
  }

  /** Checks now, and again after a pause: a refused login is retried after 1, 2, 4 and 8 s. */
  async #keepChecking(logInPause: number): Promise<void> {
    await this.#check();
    const { closing, clock } = this.#options;
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
    const { storage, clock } = this.#options;
    const problem = await withTimeLimit(CHECK_TIMEOUT_MS, clock, (it) => storage.check(it)).then(
      () => undefined,
      (error: unknown) => storage.explain(error),
    );
    this.lost = this.#lost.checked(clock.now(), problem === undefined);
    this.#wasReached ||= problem === undefined || problem.finding === 'slow';
    this.#become(problem ?? this.#stall());
  }

  /** Inserts may be stuck although a check is not: each has a connection of its own. */
  #stall(): Problem | undefined {
    return this.#options.isStalled() ? { finding: 'slow', cause: new Error(STALLED) } : undefined;
  }

  #become(found: Problem | undefined): void {
    const { closing, observer } = this.#options;
    if (closing.aborted) return;
    const isFirst = this.#finding === undefined;
    const before = this.#problem?.message;
    this.#finding = found?.finding ?? 'reachable';
    this.#problem = found && this.#unavailable(found);
    const isSame = !isFirst && this.#problem?.message === before;
    const hadReason = isSame && this.#hasReason;
    this.#hasReason = hadReason || found?.cause.message !== SILENT;
    if (isSame && hadReason === this.#hasReason) return;
    if (this.#problem) observer({ type: 'storage unreachable', error: this.#problem });
    else observer({ type: 'storage reachable' });
  }

  #unavailable({ finding, cause }: Problem): StorageUnavailableError {
    if (finding === 'denied') {
      return new StorageUnavailableError(`plants are refused: ${cause.message}`);
    }
    const message = `${this.#options.storage.place} ${WHAT[finding]}`;
    return finding === 'slow'
      ? new StorageSlowError(message, { cause })
      : new StorageUnavailableError(message, { cause });
  }
}

/**
 * Decides which connections count as lost. A firewall, a router or a host that fails can lose a connection without a
 * sign: then the reply never comes. A server that is slow or frozen is waited for, up to a minute. Otherwise a connection
 * counts as lost when the server has responded to checks for some time since something was sent on it.
 */
export class LostConnections {
  #latest = sharedSignal();
  readonly #earlier: {
    readonly sentBefore: number;
    readonly respondingMs: number;
    readonly signal: AbortController;
  }[] = [];
  /** For how long the server has responded to checks. */
  #respondingMs = 0;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** Aborts with {@link NoResponseError} when the connection of what is sent now counts as lost. */
  get signal(): AbortSignal {
    return this.#latest.signal;
  }

  /** A check has ended. Returns the signal of what is sent from now on. */
  checked(now: number, hasResponded: boolean): AbortSignal {
    if (hasResponded) this.#respondingMs += Math.min(now - this.#checkedAt, MAX_STEP_MS);
    this.#checkedAt = now;
    const respondingMs = this.#respondingMs;
    this.#earlier.push({ sentBefore: now, respondingMs, signal: this.#latest });
    this.#latest = sharedSignal();
    while (this.#isOldestLost(now)) this.#earlier.shift()?.signal.abort(new NoResponseError());
    return this.signal;
  }

  #isOldestLost(now: number): boolean {
    const [oldest] = this.#earlier;
    if (oldest === undefined) return false;
    const isResponding = this.#respondingMs - oldest.respondingMs >= LOST_AFTER_MS;
    return isResponding || now - oldest.sentBefore >= MAX_REPLY_MS;
  }
}

/**
 * What is sent between two checks shares a signal: with one for each insert, an insert on MongoDB takes 25 µs more of CPU
 * time. Node.js warns of more than ten listeners otherwise.
 */
function sharedSignal(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
