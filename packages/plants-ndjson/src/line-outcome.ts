import { isUtf8 } from 'node:buffer';
import { type CreateFailure, failuresOfCreate } from '@plant-store/plant-json';
import type { Line } from './read-lines.js';

/** The outcome of a line. */
export type LineOutcome = 'stored' | 'taken' | 'invalid' | 'unavailable' | 'unknown' | 'failed';

/** The progress of an import. */
export interface ImportProgress {
  readonly outcomes: Readonly<Record<LineOutcome, number>>;
  /** How many lines were read and have no outcome yet. */
  readonly pending: number;
  /** Bytes of the input up to the last line that has an outcome. */
  readonly bytes: number;
  /** Where to resume: every line before this one is stored, recorded, or would fail again. The first line is 1. */
  readonly nextLine: number;
}

const failures = failuresOfCreate('the line');

type FailureCode = keyof typeof failures;

const OUTCOMES: Readonly<Record<FailureCode, LineOutcome>> = {
  TOO_LARGE: 'invalid',
  INVALID_JSON: 'invalid',
  INVALID_NEW_PLANT: 'invalid',
  PLANT_ID_TAKEN: 'taken',
  STORAGE_UNAVAILABLE: 'unavailable',
  OUTCOME_UNKNOWN: 'unknown',
  INTERNAL: 'failed',
};

/** The line is larger than the limit. */
export class LineTooLargeError extends Error {
  readonly code = 'TOO_LARGE';
}

/** A line that was not stored, as the rejects file records it. */
export interface Reject extends CreateFailure {
  readonly line: number;
  /** The text of the line. Absent when the line is larger than the limit, or not UTF-8. */
  readonly text?: string;
  /** The bytes of a line that is not UTF-8, in Base64. */
  readonly base64?: string;
}

/** Returns the outcome of a line whose plant failed with `error`. */
export function lineOutcome(error: unknown): LineOutcome {
  return OUTCOMES[failureCode(error)];
}

/** Returns the record of a line whose plant failed with `error`. Reveals nothing of an unexpected error. */
export function rejected({ number, bytes }: Line, error: unknown): Reject {
  const code = failureCode(error);
  const namesTheRule = code === 'INVALID_JSON' || code === 'INVALID_NEW_PLANT';
  const { error: value, message } = failures[code];
  return {
    line: number,
    error: value,
    message: namesTheRule && error instanceof Error ? error.message : message,
    ...contentOf(bytes),
  };
}

function contentOf(bytes: Buffer | undefined): Pick<Reject, 'text' | 'base64'> {
  if (bytes === undefined) return {};
  return isUtf8(bytes) ? { text: bytes.toString() } : { base64: bytes.toString('base64') };
}

function failureCode(error: unknown): FailureCode {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return Object.hasOwn(failures, code) ? (code as FailureCode) : 'INTERNAL';
}

/** Counts the outcomes of lines, in the order of the lines. */
export class Tally {
  readonly outcomes: Record<LineOutcome, number> = {
    stored: 0,
    taken: 0,
    invalid: 0,
    unavailable: 0,
    unknown: 0,
    failed: 0,
  };
  bytes = 0;
  nextLine = 1;
  #hasGap = false;

  count(line: Line, outcome: LineOutcome): void {
    this.outcomes[outcome] += 1;
    this.skip(line);
  }

  /** Passes a line without an outcome, such as one of white space. */
  skip(line: Line): void {
    this.bytes = line.end;
    if (!this.#hasGap) this.nextLine = line.number + 1;
  }

  /** Keeps {@link nextLine} at the next line, which has to be imported again. */
  leaveGap(): void {
    this.#hasGap = true;
  }
}
