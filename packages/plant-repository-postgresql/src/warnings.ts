import type { StoreObserver } from '@plant-store/plant-repository-group-commit';

/** Reports what an administrator should correct, each message once: checks run every second. */
export class Warnings {
  readonly #user: string | undefined;
  readonly #observe: StoreObserver;
  readonly #reported = new Set<string>();

  /** @param user The role of the service. */
  constructor(user: string | undefined, observe: StoreObserver) {
    this.#user = user;
    this.#observe = observe;
  }

  /** Reports a message, with the statements that correct it, if there are any. In these, `$USER` is the role. */
  report(message: string, command?: string): void {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    const fix = command?.replace('$USER', `"${this.#user}"`);
    this.#observe({ type: 'store warning', message, ...(fix && { command: fix }) });
  }
}
