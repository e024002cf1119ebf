import { setTimeout as wait } from 'node:timers/promises';
import {
  type PlantRepository,
  type StorageObserver,
  StorageUnavailableError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';

const CHECK_INTERVAL_MS = 1000;

/** The time limit of `ready` in the ports. A part that takes longer is treated as unreachable. */
const READY_TIMEOUT_MS = 2000;

/** The options of {@link Health}. */
export interface HealthOptions {
  readonly plantRepository: Pick<PlantRepository, 'ready'>;
  readonly tokenVerifier: Pick<TokenVerifier, 'ready'>;
  /** Receives an event when the storage becomes reachable or unreachable. */
  readonly observer?: StorageObserver | undefined;
  /** How long a create waits for the storage: shorter outages cause no errors. */
  readonly requestDeadlineMs: number;
  /** Returns the time in milliseconds of a clock that is never set back, `performance.now` by default. */
  readonly now?: () => number;
}

/**
 * Reports whether a create that is sent now will be carried out.
 *
 * Checks the storage and the token verifier every second until {@link stop}, so that the start of an outage is
 * known, however rarely the health is requested.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #stopping = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #tokenProblem: unknown;
  #storageProblem: unknown;
  #storageReached = false;
  #reportedStorage: 'reachable' | 'unreachable' | undefined;
  #outageSince = 0;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#timer = setInterval(() => void this.#ask(), CHECK_INTERVAL_MS).unref();
    void this.#ask();
  }

  /** Makes the service not ready from now on, so that load balancers use other instances. */
  stop(): void {
    this.#stopping = true;
    clearInterval(this.#timer);
  }

  /** Resolves when a create would be carried out now; otherwise rejects with the reason. */
  async ready(): Promise<void> {
    if (!this.#stopping) await this.#ask();
    if (this.#stopping) throw new StoppingError('the service is stopping');
    if (this.#tokenProblem !== undefined) throw this.#tokenProblem;
    if (this.#storageProblem !== undefined && !this.#hidesOutage()) throw this.#storageProblem;
  }

  /** Whether creates wait for the storage, and the outage is shorter than their deadline so far. */
  #hidesOutage(): boolean {
    const problem = this.#storageProblem;
    if (!this.#storageReached || !(problem instanceof StorageUnavailableError)) return false;
    return problem.waits && this.#now() - this.#outageSince < this.#options.requestDeadlineMs;
  }

  /** Checks both parts, at most once a second. */
  #ask(): Promise<void> {
    if (this.#now() - this.#askedAt >= CHECK_INTERVAL_MS) {
      this.#asking ??= this.#askParts().finally(() => {
        this.#asking = undefined;
      });
    }
    return this.#asking ?? Promise.resolve();
  }

  async #askParts(): Promise<void> {
    const askedAt = this.#now();
    this.#askedAt = askedAt;
    const { plantRepository, tokenVerifier } = this.#options;
    const [storageProblem, tokenProblem] = await Promise.all([
      problemOf(plantRepository, storageIsSilent),
      problemOf(tokenVerifier, tokenVerifierIsSilent),
    ]);
    if (this.#storageProblem === undefined) this.#outageSince = askedAt;
    this.#storageReached ||= storageProblem === undefined;
    this.#storageProblem = storageProblem;
    this.#tokenProblem = tokenProblem;
    this.#reportStorage();
  }

  #reportStorage(): void {
    const problem = this.#storageProblem;
    const state = problem === undefined ? 'reachable' : 'unreachable';
    if (state === this.#reportedStorage) return;
    this.#reportedStorage = state;
    if (problem === undefined) this.#options.observer?.({ type: 'storage reachable' });
    else this.#options.observer?.({ type: 'storage unreachable', error: unavailable(problem) });
  }
}

function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  return new StorageUnavailableError('the storage is not ready', { cause });
}

const storageIsSilent = () =>
  new StorageUnavailableError('the storage does not respond', { waits: true });

const tokenVerifierIsSilent = () =>
  new TokenVerifierUnavailableError('the token verifier does not respond');

/** Resolves with the reason why a part is not ready; with `undefined` when it is ready. */
async function problemOf(part: { ready(): Promise<void> }, silent: () => Error): Promise<unknown> {
  const timeout = new AbortController();
  const silence = wait(READY_TIMEOUT_MS, undefined, timeout).then(silent);
  const problem = part.ready().then(
    () => undefined,
    (error: unknown) => error,
  );
  return Promise.race([problem, silence.catch(() => undefined)]).finally(() => timeout.abort());
}
