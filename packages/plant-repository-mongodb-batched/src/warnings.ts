import type { StoreObserver } from '@plant-store/plant-repository-group-commit';
import type { Document } from 'mongodb';

/** Reports what an administrator should correct, each message once: checks run every second. */
export class Warnings {
  readonly #database: string;
  readonly #observe: StoreObserver;
  readonly #reported = new Set<string>();

  constructor(database: string, observe: StoreObserver) {
    this.#database = database;
    this.#observe = observe;
  }

  /** Reports a message, with the database command that corrects it, if there is one. */
  report(message: string, command?: Document): void {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    const inShell = `db.getSiblingDB('${this.#database}').runCommand(${JSON.stringify(command)})`;
    this.#observe({ type: 'store warning', message, ...(command && { command: inShell }) });
  }

  /** Lets a message be reported again. */
  forget(message: string): void {
    this.#reported.delete(message);
  }
}
