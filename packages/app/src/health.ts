import { setTimeout as wait } from 'node:timers/promises';
import {
  type PlantRepository,
  type StorageObserver,
  StorageUnavailableError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';

const ASK_EVERY_MS = 1000;

/** What the ports promise. A part that takes longer counts as out of reach. */
const RESPONDS_WITHIN_MS = 2000;

/** What {@link Health} is about. */
export interface HealthOptions {
  readonly plantRepository: Pick<PlantRepository, 'ready'>;
  readonly tokenVerifier: Pick<TokenVerifier, 'ready'>;
  /** Receives whether the storage is reachable, at each change. */
  readonly observer?: StorageObserver | undefined;
  /** How long a create waits for the storage, in milliseconds: shorter outages are hidden from clients. */
  readonly requestDeadline: number;
  /** Milliseconds of a clock that is never set back, `performance.now` by default. */
  readonly now?: () => number;
}

/**
 * Whether a create that is sent now will be carried out.
 *
 * Asks both parts every second until {@link stop}, so that it is known since when an outage lasts,
 * however rarely anybody asks for the health.
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
    this.#timer = setInterval(() => void this.#ask(), ASK_EVERY_MS).unref();
    void this.#ask();
  }

  /** From now on the service is not ready, so that load balancers look elsewhere. */
  stop(): void {
    this.#stopping = true;
    clearInterval(this.#timer);
  }

  /** Rejects with the reason when a create that is sent now would be refused. */
  async ready(): Promise<void> {
    if (!this.#stopping) await this.#ask();
    if (this.#stopping) throw new StoppingError('the service is stopping');
    if (this.#tokenProblem !== undefined) throw this.#tokenProblem;
    if (this.#storageProblem !== undefined && !this.#hidesOutage()) throw this.#storageProblem;
  }

  /** Whether a create waits for the storage, and had it in time so far. */
  #hidesOutage(): boolean {
    const problem = this.#storageProblem;
    if (!this.#storageReached || !(problem instanceof StorageUnavailableError)) return false;
    return problem.waits && this.#now() - this.#outageSince < this.#options.requestDeadline;
  }

  /** At most once a second. */
  #ask(): Promise<void> {
    if (this.#now() - this.#askedAt >= ASK_EVERY_MS) {
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

/** Resolves with why a part is not ready, or with `undefined`. */
async function problemOf(part: { ready(): Promise<void> }, silent: () => Error): Promise<unknown> {
  const patience = new AbortController();
  const silence = wait(RESPONDS_WITHIN_MS, undefined, patience).then(silent);
  const problem = part.ready().then(
    () => undefined,
    (error: unknown) => error,
  );
  return Promise.race([problem, silence.catch(() => undefined)]).finally(() => patience.abort());
}
