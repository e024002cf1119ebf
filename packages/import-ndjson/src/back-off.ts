import { setTimeout } from 'node:timers/promises';

const FIRST_MS = 100;
const MAX_PAUSE_MS = 10_000;

/** Resolves after so many milliseconds; rejects when the signal ends it before. */
type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

const waitFor: Wait = (ms, signal) => setTimeout(ms, undefined, { signal });

/** The pause before what has failed is tried again: one for all that wait, and twice as long each time. */
export class BackOff {
  readonly #stopping: AbortSignal;
  readonly #waitFor: Wait;
  #next = FIRST_MS;
  #pause: Promise<boolean> | undefined;

  /** @param stopping Ends every pause. */
  constructor(stopping: AbortSignal, wait = waitFor) {
    this.#stopping = stopping;
    this.#waitFor = wait;
  }

  /** Resolves with true when it is time to try again, with false when there is nothing to be tried any more. */
  pause(): Promise<boolean> {
    this.#pause ??= this.#wait();
    return this.#pause;
  }

  /** What was tried has succeeded: the next pause is short again. */
  reset(): void {
    this.#next = FIRST_MS;
  }

  async #wait(): Promise<boolean> {
    const ms = this.#next;
    this.#next = Math.min(2 * ms, MAX_PAUSE_MS);
    await this.#waitFor(ms, this.#stopping).catch(() => undefined);
    this.#pause = undefined;
    return !this.#stopping.aborted;
  }
}
