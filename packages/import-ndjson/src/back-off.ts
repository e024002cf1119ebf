import { setTimeout } from 'node:timers/promises';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;

/** Resolves after `ms` milliseconds; rejects when the signal aborts before. */
type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

const waitFor: Wait = (ms, signal) => setTimeout(ms, undefined, { signal });

/** Exponential back-off, with one pause that all callers share: from 100 ms, doubled each time, up to 10 s. */
export class BackOff {
  readonly #stopping: AbortSignal;
  readonly #waitFor: Wait;
  #next = FIRST_PAUSE_MS;
  #pause: Promise<boolean> | undefined;

  /** @param stopping Ends every pause when it aborts. */
  constructor(stopping: AbortSignal, wait = waitFor) {
    this.#stopping = stopping;
    this.#waitFor = wait;
  }

  /** Resolves after the pause: with true to retry, with false when it was stopped. */
  pause(): Promise<boolean> {
    this.#pause ??= this.#wait();
    return this.#pause;
  }

  /** Makes the next pause short again, after a success. */
  reset(): void {
    this.#next = FIRST_PAUSE_MS;
  }

  async #wait(): Promise<boolean> {
    const ms = this.#next;
    this.#next = Math.min(2 * ms, MAX_PAUSE_MS);
    await this.#waitFor(ms, this.#stopping).catch(() => undefined);
    this.#pause = undefined;
    return !this.#stopping.aborted;
  }
}
