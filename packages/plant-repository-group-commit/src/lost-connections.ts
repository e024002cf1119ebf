import { setMaxListeners } from 'node:events';
import { NoResponseError } from './clock.js';

/** The time that a reply may take after the server has responded to a later check. */
const LOST_AFTER_MS = 10_000;

/**
 * Decides which connections count as lost. A firewall, a router or a host that fails can lose a connection without a
 * sign: then the reply never comes. A server that is slow or frozen is waited for. So a connection counts as lost only
 * when the server has responded to checks for some time since something was sent on it.
 */
export class LostConnections {
  #latest = sharedSignal();
  readonly #earlier: { readonly sentBefore: number; readonly signal: AbortController }[] = [];

  /** Aborts with {@link NoResponseError} when the connection of what is sent now counts as lost. */
  get signal(): AbortSignal {
    return this.#latest.signal;
  }

  /** The server has responded to a check. */
  serverResponded(now: number): void {
    this.#earlier.push({ sentBefore: now, signal: this.#latest });
    this.#latest = sharedSignal();
    while (this.#earlier[0] && this.#earlier[0].sentBefore <= now - LOST_AFTER_MS) {
      this.#earlier.shift()?.signal.abort(new NoResponseError());
    }
  }
}

/**
 * What is sent between two checks shares a signal: with one for each insert, an insert on MongoDB takes 25 µs more of CPU
 * time. Node.js warns of more than ten listeners otherwise.
 */
function sharedSignal(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
