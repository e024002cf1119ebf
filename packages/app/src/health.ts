import {
  type PlantRepository,
  type StorageObserver,
  StorageSlowError,
  StorageUnavailableError,
  type TokenVerifier,
} from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';

const CHECK_INTERVAL_MS = 1000;

/** The options of {@link Health}. */
export interface HealthOptions {
  readonly plantRepository: Pick<PlantRepository, 'ready'>;
  readonly tokenVerifier: Pick<TokenVerifier, 'ready'>;
  /** Receives an event when the storage becomes reachable or unreachable. Only for one that does not report itself. */
  readonly observer?: StorageObserver | undefined;
}

/**
 * Reports whether the service has started and is not stopping.
 *
 * It has started when the storage and the token verifier were reached once. A later outage is one of all instances, so
 * that no other instance could take the requests.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #timer: NodeJS.Timeout;
  #stopping = false;
  #storageReached = false;
  #tokensReached = false;
  #checking: Promise<void> | undefined;
  #reportedStorage: 'reachable' | 'unreachable' | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#check().catch(() => undefined), CHECK_INTERVAL_MS);
    this.#timer.unref();
    void this.#check().catch(() => undefined);
  }

  /** Makes the service not ready from now on, so that load balancers use other instances. */
  stop(): void {
    this.#stopping = true;
    clearInterval(this.#timer);
  }

  /** Whether the service has started, at the last check, and is not stopping. */
  get isReady(): boolean {
    return this.#storageReached && this.#tokensReached && !this.#stopping;
  }

  /** Resolves when the service has started and is not stopping; otherwise rejects with the reason. */
  async ready(): Promise<void> {
    const started = this.#storageReached && this.#tokensReached;
    if (!started && !this.#stopping) {
      await this.#check().catch((error: unknown) => {
        if (!this.#stopping) throw error;
      });
    }
    if (this.#stopping) throw new StoppingError('the service is stopping');
  }

  #check(): Promise<void> {
    this.#checking ??= this.#checkParts().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkParts(): Promise<void> {
    await Promise.all([this.#checkTokens(), this.#checkStorage()]);
  }

  async #checkTokens(): Promise<void> {
    if (this.#tokensReached) return;
    await this.#options.tokenVerifier.ready();
    this.#tokensReached = true;
  }

  async #checkStorage(): Promise<void> {
    const { plantRepository, observer } = this.#options;
    if (this.#storageReached && !observer) return;
    try {
      await plantRepository.ready();
      this.#report('reachable');
      this.#storageReached = true;
    } catch (error) {
      this.#report('unreachable', error);
      this.#storageReached ||= error instanceof StorageSlowError;
      if (!this.#storageReached) throw error;
    }
  }

  #report(state: 'reachable' | 'unreachable', problem?: unknown): void {
    if (state === this.#reportedStorage) return;
    this.#reportedStorage = state;
    const { observer } = this.#options;
    if (state === 'reachable') observer?.({ type: 'storage reachable' });
    else observer?.({ type: 'storage unreachable', error: unavailable(problem) });
  }
}

function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  return new StorageUnavailableError('the storage is not ready', { cause });
}
