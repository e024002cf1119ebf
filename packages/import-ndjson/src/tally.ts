import type { Line } from './read-lines.js';

/** The outcome of a line. A `blank` one has only white space. */
export type Outcome =
  | 'stored'
  | 'taken'
  | 'invalid'
  | 'unavailable'
  | 'unknown'
  | 'failed'
  | 'blank';

/** The progress of an import. */
export interface Progress {
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** How many plants are being retried after a failed first attempt. */
  readonly retrying: number;
  /** Bytes of the input up to the last line that has an outcome. */
  readonly bytes: number;
  /** Where to resume: every line before this one is stored, recorded, or would fail again. The first line is 1. */
  readonly nextLine: number;
}

/** Counts the outcomes of lines, in the order of the lines. */
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

  /** Passes a line without an outcome. */
  skip(line: Line): void {
    this.bytes = line.end;
    if (!this.#hasGap) this.nextLine = line.number + 1;
  }

  /** Keeps {@link nextLine} at the next line, which has to be imported again. */
  leaveGap(): void {
    this.#hasGap = true;
  }
}
