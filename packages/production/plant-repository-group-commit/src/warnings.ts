import type { StoreObserver } from './telemetry.js';

/** Reports what an administrator should correct, each message once: checks run every second. */
export class Warnings {
  readonly #observe: StoreObserver;
  readonly #reported = new Set<string>();

  constructor(observe: StoreObserver) {
    this.#observe = observe;
  }

  /** Reports a message, with the command that corrects it, if there is one, for a shell of the database. */
  report(message: string, command?: string): void {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    this.#observe({ type: 'store warning', message, ...(command && { command }) });
  }

  /** Lets a message be reported again. */
  forget(message: string): void {
    this.#reported.delete(message);
  }
}
