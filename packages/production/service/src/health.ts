import type { PlantRepository, TokenVerifier } from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-operations';
import type { StoreDegradedError } from '@plant-store/plant-repository-group-commit';

const CHECK_INTERVAL_MS = 1000;

/** By its name, since the class would load the code of the batching stores for every store. */
const DEGRADED: StoreDegradedError['name'] = 'StoreDegradedError';

/**
 * Reports whether the service has started and is not stopping. It has started when the database and the token verifier
 * were reached once. Later outages do not count: they affect all instances, so no other instance could take over.
 */
export class Health {
  /** The checks of the parts that were not reached yet. */
  readonly #missing: Set<() => Promise<void>>;
  readonly #timer: NodeJS.Timeout;
  #stopping = false;
  #checking: Promise<unknown> | undefined;

  constructor(plants: Pick<PlantRepository, 'ready'>, tokens: Pick<TokenVerifier, 'ready'>) {
    // A degraded store accepts plants.
    const unlessDegraded = (error: Error) => {
      if (error.name !== DEGRADED) throw error;
    };
    this.#missing = new Set([() => tokens.ready(), () => plants.ready().catch(unlessDegraded)]);
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
    return this.#missing.size === 0 && !this.#stopping;
  }

  /** Resolves when the service has started and is not stopping; otherwise rejects with the reason. */
  async ready(): Promise<void> {
    if (!this.#stopping) {
      await this.#check().catch((error: unknown) => {
        if (!this.#stopping) throw error;
      });
    }
    if (this.#stopping) throw new StoppingError();
  }

  #check(): Promise<unknown> {
    const reach = async (check: () => Promise<void>) => {
      await check();
      this.#missing.delete(check);
    };
    this.#checking ??= Promise.all([...this.#missing].map(reach)).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }
}
