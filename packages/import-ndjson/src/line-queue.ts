import type { Line } from './read-lines.js';

/** A line that is worked on. */
interface Entry<Result> {
  readonly line: Line;
  result: Result | undefined;
}

/**
 * The lines that are worked on at once. They leave in the order in which they have entered, whichever is settled
 * first. One object for a line, and no promise: what outlives its neighbours is what collecting garbage costs.
 */
export class LineQueue<Result extends string | object> {
  readonly #leave: (line: Line, result: Result) => void;
  readonly #entries: Entry<Result>[] = [];
  #bytes = 0;
  #waiting: (() => void) | undefined;
  #mostLines = 0;
  #mostBytes = 0;

  /** @param leave Called with each line once it and all before it are settled. */
  constructor(leave: (line: Line, result: Result) => void) {
    this.#leave = leave;
  }

  enter(line: Line): Entry<Result> {
    const entry = { line, result: undefined };
    this.#entries.push(entry);
    this.#bytes += sizeOf(line);
    return entry;
  }

  settle(entry: Entry<Result>, result: Result): void {
    entry.result = result;
    for (let first = this.#entries[0]; first?.result !== undefined; first = this.#entries[0]) {
      this.#entries.shift();
      this.#bytes -= sizeOf(first.line);
      this.#leave(first.line, first.result);
    }
    if (this.#isWithin(this.#mostLines, this.#mostBytes)) this.#waiting?.();
  }

  /** Resolves when there are at most so many lines, of so many bytes. For one caller at a time. */
  async within(lines: number, bytes: number): Promise<void> {
    if (this.#isWithin(lines, bytes)) return;
    this.#mostLines = lines;
    this.#mostBytes = bytes;
    await new Promise<void>((resolve) => {
      this.#waiting = resolve;
    });
    this.#waiting = undefined;
  }

  #isWithin(lines: number, bytes: number): boolean {
    return this.#entries.length <= lines && this.#bytes <= bytes;
  }
}

function sizeOf({ bytes }: Line): number {
  return bytes?.length ?? 0;
}
