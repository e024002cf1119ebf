/** The requests of a turn wait for at most this time until no more connections are accepted. */
const MAX_WAIT_MS = 50;

/**
 * Collects the requests that arrive in one turn of the event loop, on all connections of a server. All are parsed first,
 * and then carried out together. This takes less CPU time: the same code stays in the caches of the processor. Most bodies
 * have arrived by then.
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

  /** Resolves at the end of this turn. Each request of the turn continues in its own asynchronous context. */
  whenOver(): Promise<void> {
    this.#end ??= this.#over();
    return this.#end;
  }

  async #over(): Promise<void> {
    const until = performance.now() + MAX_WAIT_MS;
    for (let isQuiet = false; !isQuiet && performance.now() < until; ) {
      await new Promise((resolve) => void setImmediate(resolve));
      isQuiet = !this.#hasAccepted;
      this.#hasAccepted = false;
    }
    this.#end = undefined;
  }
}
