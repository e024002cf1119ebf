import type { PlantRepository, TokenVerifier } from '@plant-store/domain';
import { HttpError } from '@plant-store/http-koa';

/** Whether the service would carry out a request now. */
export class Health {
  readonly #parts: readonly (PlantRepository | TokenVerifier)[];
  #stopping = false;

  constructor(parts: readonly (PlantRepository | TokenVerifier)[]) {
    this.#parts = parts;
  }

  /** From now on the service is not ready, so that load balancers look elsewhere. */
  stop(): void {
    this.#stopping = true;
  }

  /** Rejects with the reason why not. */
  async ready(): Promise<void> {
    if (this.#stopping) throw new HttpError('STOPPING');
    await Promise.all(this.#parts.map((part) => part.ready()));
  }
}
