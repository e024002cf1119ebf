/** The most requests that wait for the end of a turn, so that the first of them does not wait long. */
const MAX_ROW = 64;

interface Row {
  readonly released: Promise<void>;
  readonly release: () => void;
  size: number;
}

/**
 * The turns of the event loop, for the requests of one server: those that the operating system has
 * ready in one turn are all parsed first, and then carried out in a row.
 *
 * Reason: carried out together, requests take little more than a third of the CPU time that they take
 * one by one (measured interleaved, in memory, 50 connections). Their promises settle in step, so the
 * same code runs many times in a row, from the first check to the response's way through the network
 * stack, and is found in the processor's caches.
 *
 * Every request awaits the same promise. So each continues in its own asynchronous context, and an
 * error of one reaches no other.
 */
export class Turn {
  #row: Row | undefined;
  #isEnding = false;
  #hasReleasedEarly = false;

  /** Resolves at the end of this turn, or earlier if many requests wait for it. */
  end(): Promise<void> {
    this.#row ??= newRow();
    const { released } = this.#row;
    this.#row.size += 1;
    if (!this.#isEnding) {
      this.#isEnding = true;
      setImmediate(() => this.#endNow());
    }
    // At most once in a turn: a pipelined request follows each response, so the turn might never end.
    if (this.#row.size === MAX_ROW && !this.#hasReleasedEarly) {
      this.#hasReleasedEarly = true;
      this.#release();
    }
    return released;
  }

  #endNow(): void {
    this.#isEnding = false;
    this.#hasReleasedEarly = false;
    this.#release();
  }

  #release(): void {
    this.#row?.release();
    this.#row = undefined;
  }
}

function newRow(): Row {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { released, release, size: 0 };
}
