import type { PlantRepository, TokenVerifier } from '@plant-store/domain';
import { StoppingError } from '@plant-store/http-koa';

const FRESH_FOR_MS = 1000;

/** Whether the service would carry out a request now. */
export class Health {
  readonly #parts: readonly (PlantRepository | TokenVerifier)[];
  #stopping = false;
  #latest: Promise<unknown> | undefined;
  #askedAt = 0;

  constructor(parts: readonly (PlantRepository | TokenVerifier)[]) {
    this.#parts = parts;
  }

  /** From now on the service is not ready, so that load balancers look elsewhere. */
  stop(): void {
    this.#stopping = true;
  }

  /** Rejects with the reason why not. The parts are asked at most once a second. */
  async ready(): Promise<void> {
    if (this.#stopping) throw new StoppingError('the service is stopping');
    const now = performance.now();
    if (this.#latest === undefined || now - this.#askedAt >= FRESH_FOR_MS) {
      this.#askedAt = now;
      this.#latest = Promise.all(this.#parts.map((part) => part.ready()));
    }
    await this.#latest;
  }
}
