/** The most requests that wait for the end of a turn, so that the first of them does not wait long. */
const MAX_ROW = 64;

interface Row {
  readonly released: Promise<void>;
  readonly release: () => void;
  size: number;
}

/**
 * Collects the requests that arrive in one turn of the event loop, on all connections of a server. All are parsed
 * first, and then carried out in a row.
 *
 * Together, requests take little more than a third of the CPU time that they take one by one. (Measured interleaved,
 * in memory, with 50 connections.) The same code runs many times in a row, so it stays in the caches of the
 * processor.
 *
 * Every request awaits the same promise. So each continues in its own asynchronous context, and an error of one does
 * not affect others.
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
