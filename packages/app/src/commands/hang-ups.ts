import type { Host } from './host.js';

/** Receives SIGHUP, so that it does not end the process, and is not lost while the service starts. */
export class HangUps {
  #listener: (() => void) | undefined;
  #missed = false;

  constructor(host: Host) {
    host.on('SIGHUP', () => {
      if (this.#listener) this.#listener();
      else this.#missed = true;
    });
  }

  /** Calls `listener` for each SIGHUP from now on, and at once when there was one before. */
  listen(listener: () => void): void {
    this.#listener = listener;
    if (this.#missed) listener();
  }
}
