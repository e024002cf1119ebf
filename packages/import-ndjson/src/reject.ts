import { isUtf8 } from 'node:buffer';
import { type CreateFailure, createFailures } from '@plant-store/plant-json';
import type { Line } from './read-lines.js';
import type { Outcome } from './tally.js';

const failures = createFailures('the line');

type FailureCode = keyof typeof failures;

const OUTCOMES: Readonly<Record<FailureCode, Outcome>> = {
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
export function outcomeOf(error: unknown): Outcome {
  return OUTCOMES[codeOf(error)];
}

/** Returns the record of a line whose plant failed with `error`. Reveals nothing of an unexpected error. */
export function rejectOf({ number, bytes }: Line, error: unknown): Reject {
  const code = codeOf(error);
  const namesTheRule = code === 'INVALID_JSON' || code === 'INVALID_NEW_PLANT';
  const { error: value, message } = failures[code];
  return {
    line: number,
    error: value,
    message: namesTheRule && error instanceof Error ? error.message : message,
    ...contentOf(bytes),
  };
}

function codeOf(error: unknown): FailureCode {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return Object.hasOwn(failures, code) ? (code as FailureCode) : 'INTERNAL';
}

function contentOf(bytes: Buffer | undefined): Pick<Reject, 'text' | 'base64'> {
  if (bytes === undefined) return {};
  return isUtf8(bytes) ? { text: bytes.toString() } : { base64: bytes.toString('base64') };
}
