/** Requests wait at most this long for a burst of new connections to end. */
const MAX_WAIT_MS = 50;
/**
 * After this many ticks without a new connection, none waits to be accepted. Requests need only one such tick: a connection
 * that they overtake is served next, but one that waits when the listener closes is reset.
 */
const QUIET_TURNS = 3;

/**
 * Collects the requests of one event-loop tick, on all connections, to run them together. Node.js accepts one
 * connection per tick, so requests wait until no more are being accepted. Otherwise, the last of many new clients would
 * wait while the others send one request after the other.
 */
export class EventLoopTick {
  #accepted = 0;
  #acceptedBefore = 0;
  #end: Promise<void> | undefined;
  readonly #now: () => number;

  /** @param now The time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a connection that the server has accepted. */
  countAccepted(): void {
    this.#accepted += 1;
  }

  /** Resolves at the end of this tick, or later while connections are accepted: once for all requests that wait. */
  whenOver(): Promise<void> {
    this.#end ??= this.#over();
    return this.#end;
  }

  /** Resolves when no connection waits to be accepted, or after a time limit. */
  async whenAllAccepted(timeLimitMs: number): Promise<void> {
    const until = this.#now() + timeLimitMs;
    for (let quiet = 0; quiet < QUIET_TURNS && this.#now() < until; ) {
      const before = this.#accepted;
      await new Promise(setImmediate);
      quiet = this.#accepted === before ? quiet + 1 : 0;
    }
  }

  async #over(): Promise<void> {
    const until = this.#now() + MAX_WAIT_MS;
    let isQuiet: boolean;
    do {
      await new Promise(setImmediate);
      isQuiet = this.#accepted === this.#acceptedBefore;
      this.#acceptedBefore = this.#accepted;
    } while (!isQuiet && this.#now() < until);
    this.#end = undefined;
  }
}
