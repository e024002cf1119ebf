import {
  type PlantRepository,
  type StorageEvent,
  type StorageObserver,
  StorageSlowError,
  StorageUnavailableError,
  type TokenVerifier,
} from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';

const CHECK_INTERVAL_MS = 1000;

/**
 * Reports whether the service has started and is not stopping.
 *
 * It has started when the storage and the token verifier were reached once. A later outage is one of all instances, so
 * that no other instance could take the requests.
 */
export class Health {
  readonly #plants: Pick<PlantRepository, 'ready'>;
  readonly #tokens: Pick<TokenVerifier, 'ready'>;
  readonly #observer: StorageObserver | undefined;
  readonly #timer: NodeJS.Timeout;
  #stopping = false;
  #storageReached = false;
  #tokensReached = false;
  #checking: Promise<void> | undefined;
  #reported: StorageEvent['type'] | undefined;

  /** @param observer Receives an event when the storage becomes reachable or unreachable, if it does not report itself. */
  constructor(
    plants: Pick<PlantRepository, 'ready'>,
    tokens: Pick<TokenVerifier, 'ready'>,
    observer?: StorageObserver,
  ) {
    this.#plants = plants;
    this.#tokens = tokens;
    this.#observer = observer;
    const check = () => void this.#check().catch(() => undefined);
    this.#timer = setInterval(check, CHECK_INTERVAL_MS).unref();
    check();
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
    const check = this.isReady || this.#stopping ? undefined : this.#check();
    await check?.catch((error: unknown) => {
      if (!this.#stopping) throw error;
    });
    if (this.#stopping) throw new StoppingError('the service is stopping');
  }

  #check(): Promise<void> {
    this.#checking ??= Promise.all([this.#checkTokens(), this.#checkStorage()])
      .then(() => undefined)
      .finally(() => {
        this.#checking = undefined;
      });
    return this.#checking;
  }

  async #checkTokens(): Promise<void> {
    if (!this.#tokensReached) await this.#tokens.ready();
    this.#tokensReached = true;
  }

  async #checkStorage(): Promise<void> {
    if (this.#storageReached && !this.#observer) return;
    try {
      await this.#plants.ready();
      this.#storageReached = true;
      this.#report({ type: 'storage reachable' });
    } catch (cause) {
      this.#storageReached ||= cause instanceof StorageSlowError;
      const error =
        cause instanceof StorageUnavailableError
          ? cause
          : new StorageUnavailableError('the storage is not ready', { cause });
      this.#report({ type: 'storage unreachable', error });
      if (!this.#storageReached) throw cause;
    }
  }

  #report(event: StorageEvent): void {
    if (event.type !== this.#reported) this.#observer?.(event);
    this.#reported = event.type;
  }
}
