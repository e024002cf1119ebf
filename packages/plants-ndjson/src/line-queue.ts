import type { Line } from './read-lines.js';

/** A line whose plant is being created, and its result. */
interface Entry<Result> {
  readonly line: Line;
  result: Result | undefined;
}

/**
 * A queue of lines that are settled in any order and leave in their original order. It holds one object for each
 * line and no promise, because objects that live long make garbage collection slow.
 */
export class LineQueue<Result extends string | object> {
  readonly #leave: (line: Line, result: Result) => void;
  readonly #entries: Entry<Result>[] = [];
  #bytes = 0;
  #waiting: { readonly lines: number; readonly bytes: number; resolve(): void } | undefined;

  /** @param leave Called with each line once it and all lines before it are settled. */
  constructor(leave: (line: Line, result: Result) => void) {
    this.#leave = leave;
  }

  /** How many lines are not settled. */
  get pending(): number {
    return this.#entries.filter(({ result }) => result === undefined).length;
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
    const waiting = this.#waiting;
    if (waiting !== undefined && this.#isWithin(waiting.lines, waiting.bytes)) waiting.resolve();
  }

  /** Resolves when the queue has at most `lines` lines and `bytes` bytes. Not for concurrent callers. */
  async shrinksTo(lines: number, bytes: number): Promise<void> {
    if (this.#isWithin(lines, bytes)) return;
    await new Promise<void>((resolve) => {
      this.#waiting = { lines, bytes, resolve };
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
