import type { Line } from './read-lines.js';

/** What became of a line. A `blank` one holds white space alone. */
export type Outcome =
  | 'stored'
  | 'taken'
  | 'invalid'
  | 'unavailable'
  | 'unknown'
  | 'failed'
  | 'blank';

/** How far an import has come. */
export interface Progress {
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Plants that have failed at least once, and are being tried again. */
  readonly retrying: number;
  /** Bytes of the input up to the last line that was accounted for. */
  readonly bytes: number;
  /** Every line before this one is accounted for: stored, refused for good, or recorded. */
  readonly nextLine: number;
}

/** Counts the lines, in their order. */
export class Tally {
  readonly outcomes: Record<Outcome, number> = {
    stored: 0,
    taken: 0,
    invalid: 0,
    unavailable: 0,
    unknown: 0,
    failed: 0,
    blank: 0,
  };
  bytes = 0;
  nextLine = 1;
  #hasGap = false;

  count(line: Line, outcome: Outcome): void {
    this.outcomes[outcome] += 1;
    this.skip(line);
  }

  /** Counts no outcome. */
  skip(line: Line): void {
    this.bytes = line.end;
    if (!this.#hasGap) this.nextLine = line.number + 1;
  }

  /** The next line is to be imported again: {@link nextLine} stays where it is. */
  leaveGap(): void {
    this.#hasGap = true;
  }
}
