import { setImmediate } from 'node:timers/promises';

/** The requests wait for at most this many connections. */
const MAX_ACCEPTED = 100;

/**
 * Collects the requests that arrive in one turn of the event loop, one on each connection of a server. All are parsed
 * first, and then carried out together, which takes less CPU time: the same code runs many times in a row, so it stays in
 * the caches of the processor, and most bodies have arrived when their requests begin.
 *
 * Node.js accepts one connection in each turn. Of many that wait, the last would wait for as many turns as there are
 * connections, so the requests of a turn wait until no more are accepted.
 */
export class Turn {
  #end: Promise<void> | undefined;
  #hasAccepted = false;

  /** To be called when a connection was accepted. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /**
   * Resolves at the end of this turn. Every request of the turn awaits the same promise, so each continues in its own
   * asynchronous context, and an error of one does not affect others.
   */
  whenOver(): Promise<void> {
    this.#end ??= this.#over();
    return this.#end;
  }

  async #over(): Promise<void> {
    for (let accepted = 0; accepted < MAX_ACCEPTED; accepted += 1) {
      await setImmediate();
      if (!this.#hasAccepted) break;
      this.#hasAccepted = false;
    }
    this.#end = undefined;
  }
}
