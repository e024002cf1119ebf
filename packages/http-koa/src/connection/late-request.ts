import type { ReceivedRequest } from '../frame/received-request.js';

/** The time limits of a request; in milliseconds. */
interface TimeLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
}

/**
 * The request of a connection that was reported as late while the service itself did not read. Node
 * reports each request once, so its time begins anew here when reading goes on.
 */
export class LateRequest {
  readonly #limits: TimeLimits;
  #resumedAt = Number.NEGATIVE_INFINITY;
  #isExcused = false;
  /** Absent while its headers have not arrived. */
  #request: ReceivedRequest | undefined;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
  }

  /** The connection is read from now on. */
  resumed(): void {
    this.#resumedAt = performance.now();
  }

  /** A request's headers have arrived. */
  arrived(request: ReceivedRequest): void {
    if (this.#isExcused) this.#request ??= request;
  }

  /** Whether a request that Node reports as late gets more time, because it was not read in time. */
  isExcused(latest: ReceivedRequest | undefined, isPaused: boolean): boolean {
    this.#request = latest?.complete === false ? latest : undefined;
    this.#isExcused = isPaused || performance.now() < this.#end();
    return this.#isExcused;
  }

  /** Whether the time of an excused request is over. */
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
