import { StoreUnavailableError } from '@plant-store/domain';
import { type Clock, withTimeLimit } from './clock.js';
import { type Finding, meaningOf } from './finding.js';
import type { Explanation, PlantDatabase } from './plant-database.js';
import type { StoreObserver } from './telemetry.js';

/** The time limit of one check. `PlantRepository.ready` allows 2 seconds; the rest is slack for a busy process. */
const CHECK_TIMEOUT_MS = 1_500;
export const CHECK_INTERVAL_MS = 1_000;
/** The database is slow if a check takes longer, which is as long as an insert may take at first. */
export const QUICK_MS = 700;
/** The pause after refused credentials: some directories lock out users who fail too often. */
const LOG_IN_INTERVAL_MS = 8_000;

/** The database accepts plants, but some of them get no outcome in time. Only `ready` rejects with this error; `add` waits. */
export class StoreDegradedError extends StoreUnavailableError {
  override readonly name = 'StoreDegradedError';
}

interface AvailabilityOptions {
  readonly database: Pick<PlantDatabase, 'place' | 'check' | 'explain'>;
  readonly observer: StoreObserver;
  /** Ends the checks. */
  readonly closing: AbortSignal;
  readonly clock: Clock;
}

/**
 * Tracks whether the database accepts plants, according to the last check. Events, `ready` and the rejection of adds all
 * derive from it.
 */
export class Availability {
  /** True once a check has succeeded, even if it was slow. */
  wasReached = false;
  /** Whether the last check has succeeded within {@link QUICK_MS}. */
  isQuick = false;
  readonly #options: AvailabilityOptions;
  /** What the last check has found; `undefined` if plants can be stored. */
  #problem: { readonly finding: Finding; readonly error: StoreUnavailableError } | undefined;
  #checking: Promise<void> | undefined;
  /**
   * The last report, and whether it included a reason: a host that is down may be silent at first and refuse a later
   * check.
   */
  #reported: string | undefined;
  #hasReason = false;
  #stopTimer: () => void = () => undefined;

  /** Checks every second until `closing` is aborted. */
  constructor(options: AvailabilityOptions) {
    this.#options = options;
    options.closing.addEventListener('abort', () => this.#stopTimer());
    void this.#keepChecking();
  }

  /** The error of `ready` and of failed reads; `undefined` if the last check found the database available. */
  get readyError(): StoreUnavailableError | undefined {
    return this.#problem?.error;
  }

  /** The error with which every `add` rejects immediately; `undefined` while plants are sent or wait for a server. */
  get addError(): StoreUnavailableError | undefined {
    const { finding, error } = this.#problem ?? {};
    return finding && meaningOf(finding).needsAdministrator ? error : undefined;
  }

  /**
   * Implements `PlantRepository.ready`. Concurrent calls share one check, and refused credentials are not tried again
   * here.
   */
  async ready(): Promise<void> {
    if (this.#problem?.finding !== 'credentials refused') await this.#check();
    if (this.#problem) throw this.#problem.error;
  }

  async #keepChecking(): Promise<void> {
    await this.#check();
    const { closing, clock } = this.#options;
    if (closing.aborted) return;
    const isRefused = this.#problem?.finding === 'credentials refused';
    const pauseMs = isRefused ? LOG_IN_INTERVAL_MS : CHECK_INTERVAL_MS;
    this.#stopTimer = clock.after(pauseMs, () => void this.#keepChecking());
  }

  #check(): Promise<void> {
    this.#checking ??= this.#checkOnce().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkOnce(): Promise<void> {
    const { database, clock, closing, observer } = this.#options;
    const beganAt = clock.now();
    const found = await withTimeLimit(CHECK_TIMEOUT_MS, clock, (it) => database.check(it)).then(
      () => undefined,
      (error: unknown) => database.explain(error),
    );
    this.wasReached ||= !found || meaningOf(found.finding).accepts === true;
    this.isQuick = !found && clock.now() - beganAt <= QUICK_MS;
    if (closing.aborted) return;
    const error = found && this.#errorOf(found);
    this.#problem = found && error && { finding: found.finding, error };
    const state = error?.message ?? 'reachable';
    const hasReason = found?.finding !== 'no response';
    if (state === this.#reported && (this.#hasReason || !hasReason)) return;
    this.#reported = state;
    this.#hasReason = hasReason;
    observer(error ? { type: 'store unreachable', error } : { type: 'store reachable' });
  }

  #errorOf({ finding, cause }: Explanation): StoreUnavailableError {
    const { database, accepts } = meaningOf(finding);
    if (!database) return new StoreUnavailableError(`plants are refused: ${cause.message}`);
    const kind = accepts ? StoreDegradedError : StoreUnavailableError;
    return new kind(`${this.#options.database.place} ${database}`, { cause });
  }
}
