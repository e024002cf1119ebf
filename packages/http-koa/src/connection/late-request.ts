import type { ReceivedRequest } from '../frame/received-request.js';

/** The time limits of a request, in milliseconds. */
interface TimeLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
}

/**
 * Gives more time to a request that Node.js reported as late while the service did not read. Node.js reports each
 * request once, so this class measures its time again when reading is resumed.
 */
export class LateRequest {
  readonly #limits: TimeLimits;
  #resumedAt = Number.NEGATIVE_INFINITY;
  #isExcused = false;
  /** `undefined` until its headers have arrived. */
  #request: ReceivedRequest | undefined;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
  }

  /** To be called when reading is resumed. */
  resumed(): void {
    this.#resumedAt = performance.now();
  }

  /** To be called when the headers of a request have arrived. */
  arrived(request: ReceivedRequest): void {
    if (this.#isExcused) this.#request ??= request;
  }

  /** Returns whether a request that Node.js reports as late gets more time, because it was not read in time. */
  isExcused(latest: ReceivedRequest | undefined, isPaused: boolean): boolean {
    this.#request = latest?.complete === false ? latest : undefined;
    this.#isExcused = isPaused || performance.now() < this.#end();
    return this.#isExcused;
  }

  /** Returns whether the additional time of a request is over. */
  isOver(isPaused: boolean): boolean {
    if (!this.#isExcused) return false;
    if (this.#request?.complete) this.#isExcused = false;
    return this.#isExcused && !isPaused && performance.now() >= this.#end();
  }

  #end(): number {
    const { headersTimeout, requestTimeout } = this.#limits;
    return this.#resumedAt + (this.#request === undefined ? headersTimeout : requestTimeout);
  }
}
